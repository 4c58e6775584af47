//! Copies in the browser's storage, in words.

use super::{
    App,
    event::{Copies, OpenCopy},
};
use crate::{
    acquisition::counted,
    display::{bytes, bytes_of},
};

impl App {
    /// What is kept; nothing before it is known.
    pub fn copies_words(&self) -> String {
        match &self.copies {
            Copies::Unknown => String::new(),
            Copies::None(why) => why.clone(),
            Copies::Making(done, all) => format!("Copying {}", bytes_of(*done, *all)),
            Copies::Some { sets, bytes: size, open } => {
                let all = match sets {
                    0 => "None".to_owned(),
                    sets => format!("{}, {}", counted((*sets).into(), "set"), bytes(*size)),
                };
                let this = match open {
                    OpenCopy::None => "",
                    OpenCopy::May(_) => ". A set that is kept opens faster, as long as its files do not change",
                    OpenCopy::Kept => ". This set is kept: it opens from its copy as long as its files do not change",
                };
                format!("{all}{this}.")
            }
        }
    }

    /// Another set is being opened.
    pub(super) fn forget_open_copy(&mut self) {
        if let Copies::Some { open, .. } = &mut self.copies {
            *open = OpenCopy::None;
        }
    }

    /// What the button says that keeps the open set; `None` where it cannot be kept.
    pub fn keep_words(&self) -> Option<String> {
        match self.copies {
            Copies::Some { open: OpenCopy::May(size), .. } => Some(format!("Keep a copy ({})", bytes(size))),
            _ => None,
        }
    }

    /// Whether there is a copy to be removed.
    pub fn has_copies(&self) -> bool {
        matches!(self.copies, Copies::Some { sets: 1.., .. })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::Event;

    fn app(copies: Copies) -> App {
        let mut app = App::default();
        app.update(0.0, Event::Copies(copies));
        app
    }

    #[test]
    fn a_set_that_may_be_kept_has_a_button_with_its_size_and_one_that_is_kept_has_none() {
        let may = app(Copies::Some { sets: 0, bytes: 0, open: OpenCopy::May(1_900_000_000) });
        assert_eq!(may.keep_words().as_deref(), Some("Keep a copy (1.9\u{202f}GB)"));
        assert!(!may.has_copies() && may.copies_words().starts_with("None. A set"));
        let kept = app(Copies::Some { sets: 2, bytes: 3_800_000_000, open: OpenCopy::Kept });
        assert_eq!((kept.keep_words(), kept.has_copies()), (None, true));
        assert!(kept.copies_words().starts_with("2 sets, 3.8\u{202f}GB. This set is kept"), "{}", kept.copies_words());
    }

    #[test]
    fn while_a_copy_is_made_nothing_else_can_be_done_with_copies() {
        let making = app(Copies::Making(500_000_000, 1_900_000_000));
        assert_eq!((making.keep_words(), making.has_copies()), (None, false));
        assert_eq!(making.copies_words(), "Copying 0.5 of 1.9\u{202f}GB");
    }
}
