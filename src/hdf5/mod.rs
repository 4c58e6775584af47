//! Where things lie in an HDF5 file: groups, links, attributes and each chunk's place, found without
//! decoding anything.
//!
//! The walker reads byte ranges only, so a file may be a disk file, a picked file or bytes in a test. All
//! addresses have 64 bits, every number of the file is checked before use, and the bytes of structure that
//! one file may cost are bounded by its size: no input makes it panic, loop or allocate without end.
//!
//! Sections in brackets, such as [III.A.1], are those of the HDF5 File Format Specification 4.0,
//! <https://support.hdfgroup.org/documentation/hdf5/latest/_f_m_t4.html>.

mod attribute;
mod btree2;
mod checksum;
mod chunks;
mod dataset;
mod datatype;
mod fields;
mod file;
mod fold;
mod foreign;
mod fractal_heap;
mod group;
mod heap;
mod layout;
mod object;
mod pipeline;
mod selection;
mod superblock;
mod virtual_layout;

pub use attribute::Attribute;
pub use checksum::lookup3;
pub use chunks::{Chunk, ChunkList, Leaf, Outline};
pub use dataset::{Dataset, Space};
pub use datatype::{Datatype, half};
pub use file::File;
pub use fold::Fold;
pub use group::{Found, Link, Target};
pub use layout::Layout;
pub use pipeline::Filter;
pub use selection::{Extent, Selection};
pub use virtual_layout::Mapping;
