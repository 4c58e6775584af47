//! The pictures of a series: those on screen are made when what they show has changed, and share their range where it is
//! linked and automatic.

use super::super::{
    App, Panel,
    state::{Com, Look, Looks, Product, Scales},
};
use crate::display::{Histogram, Limits};

/// What a picture was made with, beside its data.
#[derive(Clone, Debug, PartialEq)]
pub struct MadeFor {
    product: Product,
    looks: Looks,
    com: Com,
    scales: Scales,
}

impl App {
    /// Makes the pictures of the sets on screen that have changed.
    pub(in crate::app) fn make_tiles(&mut self) {
        let Some(series) = &self.series else { return };
        let (window, active) = (series.window(&self.state.series), series.active);
        for &place in window.iter().filter(|&&place| place != active) {
            let made_for =
                self.series.as_ref().and_then(|series| series.member(place)).and_then(|member| member.made_for.clone());
            let now = self.at_desk(place, |app| {
                let state = &app.state;
                let now = MadeFor { product: state.product, looks: state.looks, com: state.com, scales: state.scales };
                app.stale.image |= made_for.as_ref() != Some(&now);
                app.make_image();
                now
            });
            if let Some(member) = self.series.as_mut().and_then(|series| series.members.get_mut(place)) {
                member.made_for = now;
            }
        }
        if self.state.series.links.contrast && window.len() > 1 {
            self.share_limits(&window);
        }
    }

    /// One automatic range for all pictures on screen of the product of now.
    fn share_limits(&mut self, window: &[usize]) {
        let look = *self.state.looks.of(self.state.product.family());
        if look.limits.is_some() {
            return;
        }
        let shown = window.iter().filter_map(|&place| self.image_at(place));
        let of_now = shown.filter(|shown| shown.is_of(self.state.product)).map(|shown| shown.own_limits);
        let wider = |a: Limits, b: Limits| Limits { low: a.low.min(b.low), high: a.high.max(b.high) };
        let Some(limits) = of_now.reduce(wider) else { return };
        for &place in window {
            self.at_desk(place, |app| app.take_limits(limits, look));
        }
    }

    fn take_limits(&mut self, limits: Limits, look: Look) {
        let product = self.state.product;
        let Some(shown) = self.image.as_mut().filter(|shown| shown.limits != limits && shown.is_of(product)) else {
            return;
        };
        self.serial += 1;
        (shown.limits, shown.serial) = (limits, self.serial);
        shown.histogram = Histogram::of(&shown.field, look.scale, shown.unit, limits);
    }

    /// Whether the picture at `place` is what the view says.
    pub(super) fn is_current_at(&self, place: usize) -> bool {
        let Some(series) = &self.series else { return false };
        if place == series.active {
            return self.is_current(Panel::Image);
        }
        let is_of_now = self.image_at(place).is_some_and(|shown| shown.is_of(self.state.product));
        is_of_now && !self.lacks_picture(place)
    }
}
