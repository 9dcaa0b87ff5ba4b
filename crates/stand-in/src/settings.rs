//! What a test wants of the stand-in, from the environment of the process that opens it.

use rung_ptx_interpreter::Order;
use std::fmt::Display;
use std::path::PathBuf;
use std::str::FromStr;

/// A call that fails.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The function, by its exported name without a version.
    pub function: String,
    /// The first of its calls that fails, from 1.
    pub call: u64,
    /// What it returns.
    pub code: i32,
    pub when: When,
}

/// How a fault shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    /// This one call returns it.
    Once,
    /// This one and the next return it.
    Twice,
    /// Every call of everything does from then on.
    Sticky,
    /// The call succeeds; what it queued fails when its turn comes, and everything from then on.
    Late,
}

/// `cuMemAllocAsync:3:2`, `cuLaunchKernel:5:700:sticky`, `cuLaunchKernel:5:700:late`.
impl FromStr for Fault {
    type Err = String;

    fn from_str(text: &str) -> Result<Fault, String> {
        let bad = || format!("expected FUNCTION:CALL:CODE[:twice|:sticky|:late], got {text}");
        let parts: Vec<&str> = text.split(':').collect();
        let (function, call, code, when) = match parts[..] {
            [function, call, code] => (function, call, code, When::Once),
            [function, call, code, "twice"] => (function, call, code, When::Twice),
            [function, call, code, "sticky"] => (function, call, code, When::Sticky),
            [function, call, code, "late"] => (function, call, code, When::Late),
            _ => return Err(bad()),
        };
        Ok(Fault {
            function: function.to_string(),
            call: call.parse().map_err(|_| bad())?,
            code: code.parse().map_err(|_| bad())?,
            when,
        })
    }
}

/// The card that is shown.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The numbers of the cards that programs see, in their order.
    pub cards: Vec<i32>,
    /// 75 is 7.5.
    pub capability: i32,
    /// Bytes of memory.
    pub memory: usize,
    /// 12040 is 12.4.
    pub version: i32,
    /// It has memory pools.
    pub pools: bool,
    /// How many multiprocessors it has.
    pub multiprocessors: i32,
    /// It shares its memory with the processor.
    pub integrated: bool,
    /// In which order its tensor cores add products of doubles.
    pub doubles: Order,
    pub fault: Option<Fault>,
    /// In which order streams take turns: 0 for as little as is needed.
    pub seed: u64,
    /// A file that gets a line for each call: its name and what it is about.
    pub record: Option<PathBuf>,
}

impl Settings {
    /// From the variables `STAND_IN_...`; what cannot be read ends the process, so that no test passes
    /// for want of what it asks for.
    pub fn of_environment() -> Settings {
        fn read<T: FromStr<Err: Display>>(name: &str) -> Option<T> {
            let text = std::env::var(name).ok()?;
            Some(text.parse().unwrap_or_else(|e| panic!("{name}={text}: {e}")))
        }
        fn number<T: FromStr<Err: Display>>(name: &str, default: T) -> T {
            read(name).unwrap_or(default)
        }
        Settings {
            cards: visible(number("STAND_IN_CARDS", 1), std::env::var("CUDA_VISIBLE_DEVICES").ok()),
            capability: number("STAND_IN_CAPABILITY", 75),
            memory: number("STAND_IN_MEMORY", 1 << 30),
            version: number("STAND_IN_VERSION", 12040),
            pools: number("STAND_IN_POOLS", 1) != 0,
            multiprocessors: number("STAND_IN_MULTIPROCESSORS", 2),
            integrated: number("STAND_IN_INTEGRATED", 0) != 0,
            doubles: number("STAND_IN_DOUBLES", Order::default()),
            fault: read("STAND_IN_FAULT"),
            seed: number("STAND_IN_SEED", 0),
            record: std::env::var_os("STAND_IN_RECORD").map(PathBuf::from),
        }
    }
}

/// The cards of a machine that a list of numbers shows, as the driver has it: up to the first that there is not.
fn visible(count: i32, list: Option<String>) -> Vec<i32> {
    let Some(list) = list else { return (0..count).collect() };
    let numbers = list.split(',').map(|number| number.trim().parse().ok());
    numbers.map_while(|card| card.filter(|card| (0..count).contains(card))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_shows_cards_in_its_order_up_to_the_first_unknown() {
        let seen = |list: &str| visible(3, Some(list.to_string()));
        assert_eq!(visible(2, None), [0, 1]);
        assert_eq!(seen("2,0"), [2, 0]);
        assert_eq!(seen("1, 7, 0"), [1]);
        assert_eq!(seen("-1"), []);
        assert_eq!(seen(""), []);
    }

    #[test]
    fn faults_are_read() {
        let fault: Fault = "cuLaunchKernel:5:700:sticky".parse().unwrap();
        assert_eq!((fault.call, fault.code, fault.when), (5, 700, When::Sticky));
        assert!("cuLaunchKernel:5".parse::<Fault>().is_err());
    }
}
