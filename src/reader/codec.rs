//! gloo-worker's own encoding, plus ports: a raw message `{ticket, port}` is put aside for whoever
//! waits for that ticket.

use std::{cell::RefCell, collections::HashMap};

use gloo_worker::{Bincode, Codec};
use js_sys::Uint8Array;
use serde::{Deserialize, Serialize};
use wasm_bindgen::{JsCast, JsValue};
use web_sys::MessagePort;

use super::port::{number, property};

pub struct Ported;

thread_local! {
    // The codec is a static interface without a receiver: this is the one place that a port can land.
    static ARRIVED: RefCell<HashMap<u32, MessagePort>> = RefCell::default();
}

impl Ported {
    /// The port that was posted with `ticket`, once.
    pub fn take_port(ticket: u32) -> Option<MessagePort> {
        ARRIVED.with_borrow_mut(|arrived| arrived.remove(&ticket))
    }
}

impl Codec for Ported {
    fn encode<I: Serialize>(input: I) -> JsValue {
        Bincode::encode(input)
    }

    fn decode<O: for<'de> Deserialize<'de>>(input: JsValue) -> O {
        let Some(port) = property(&input, "port").and_then(|port| port.dyn_into::<MessagePort>().ok()) else {
            return Bincode::decode(input);
        };
        if let Some(ticket) = number(&input, "ticket") {
            ARRIVED.with_borrow_mut(|arrived| arrived.insert(ticket as u32, port));
        }
        Bincode::decode(Uint8Array::from(LOADED.as_slice()).into())
    }
}

/// gloo-worker's "worker loaded" (variant 0 in bincode). It asks for nothing after the first one.
const LOADED: [u8; 4] = [0; 4];
