//! Undo and redo of the view: every step of the user is kept; a drag, or keys pressed in a row, are one step.

use super::{App, Command, Effect, Event, ViewState};

/// Steps that are kept.
const MOST: usize = 200;

/// The same key again within this time belongs to the same step, ms.
const ROW_MS: f64 = 1000.0;

#[derive(Default)]
pub struct History {
    past: Vec<ViewState>,
    future: Vec<ViewState>,
    /// The view after the last step.
    settled: ViewState,
    /// The last small step, and when it was.
    last: Option<(Kind, f64)>,
}

impl History {
    /// Nothing has been done to `state` yet.
    pub fn at(state: &ViewState) -> Self {
        Self { settled: state.clone(), ..Self::default() }
    }
}

/// What an event is to the history.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    /// Not by the user: no step.
    Machine,
    Undo,
    /// One that often comes in a row.
    Small(Option<Command>),
    Step,
}

impl Kind {
    pub fn of(event: &Event) -> Self {
        match event {
            Event::Do(Command::Undo | Command::Redo) | Event::Step(Command::Undo | Command::Redo, _) => Self::Undo,
            Event::Do(command) | Event::Step(command, _) if command.is_of_sets() => Self::Machine,
            Event::Wheel { .. } | Event::NudgeLimit { .. } => Self::Small(None),
            Event::Step(
                command @ (Command::Nudge { .. }
                | Command::Grow(_)
                | Command::Hollow(_)
                | Command::Rotate(_)
                | Command::ZoomIn
                | Command::ZoomOut),
                _,
            ) => Self::Small(Some(*command)),
            Event::Do(_)
            | Event::Step(..)
            | Event::Press { .. }
            | Event::Drag { .. }
            | Event::Release
            | Event::DragAngle(_)
            | Event::AutoRange(_)
            | Event::SetScale(..)
            | Event::SetMap(..)
            | Event::SetPattern(_)
            | Event::Enter(..)
            | Event::SetState(_)
            | Event::Session { .. }
            | Event::SetSmoothing(..)
            | Event::InvertMap(..)
            | Event::Lock(..)
            | Event::Turn(..)
            | Event::MoveSet { .. } => Self::Step,
            _ => Self::Machine,
        }
    }
}

impl App {
    pub fn can_undo(&self) -> bool {
        !self.history.past.is_empty()
    }

    pub fn can_redo(&self) -> bool {
        !self.history.future.is_empty()
    }

    /// Takes note of what an event has made of the view.
    pub(super) fn remember(&mut self, kind: Kind) {
        // A drag is one step, taken when it ends.
        if self.hold.is_some() || self.state == self.history.settled {
            return;
        }
        let history = &mut self.history;
        let before = std::mem::replace(&mut history.settled, self.state.clone());
        let in_a_row = history.last.is_some_and(|(last, ms)| last == kind && self.now_ms - ms < ROW_MS);
        history.last = matches!(kind, Kind::Small(_)).then_some((kind, self.now_ms));
        if matches!(kind, Kind::Machine | Kind::Undo) || in_a_row {
            return;
        }
        history.past.push(before);
        history.future.clear();
        if history.past.len() > MOST {
            history.past.remove(0);
        }
    }

    pub(super) fn undo(&mut self, effects: &mut Vec<Effect>) {
        if let Some(state) = self.history.past.pop().filter(|_| self.hold.is_none()) {
            self.history.future.push(self.state.clone());
            self.set_state(state, effects);
        }
    }

    pub(super) fn redo(&mut self, effects: &mut Vec<Effect>) {
        if let Some(state) = self.history.future.pop().filter(|_| self.hold.is_none()) {
            self.history.past.push(self.state.clone());
            self.set_state(state, effects);
        }
    }
}
