//! Which byte ranges are read into which batch, in which order. Pure: no clock, no browser, no GPU.
