//! The form of shared values in a saved machine: within a [`scope`], a value to which several references lead is
//! written once. Outside of one, as when a program alone is written, each reference writes the whole value.
//!
//! Values are numbered in the order in which they are complete. What was written in a scope is read in one.

use std::any::Any;
use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::Arc;

use serde::de::{DeserializeOwned, Error as _};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

#[derive(Default)]
struct Values {
    /// The number of each value that was written, by its address.
    written: HashMap<*const (), u32>,
    /// The values that were read, each an `Arc`.
    read: Vec<Box<dyn Any>>,
}

thread_local! {
    /// The values of the scope in which this thread is.
    static VALUES: RefCell<Option<Values>> = const { RefCell::new(None) };
}

/// Calls a function that writes or reads shared values. None of them may be dropped meanwhile.
pub(crate) fn scope<T>(call: impl FnOnce() -> T) -> T {
    VALUES.set(Some(Values::default()));
    let result = call();
    VALUES.set(None);
    result
}

/// A value, or the number of one that came before.
#[derive(Serialize, Deserialize)]
enum Shared<T> {
    Value(T),
    Earlier(u32),
}

pub(crate) fn serialize<T: Serialize + ?Sized, S: Serializer>(
    value: &Arc<T>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    let address = Arc::as_ptr(value).cast::<()>();
    let earlier = VALUES.with_borrow(|values| values.as_ref()?.written.get(&address).copied());
    if let Some(number) = earlier {
        return Shared::<&T>::Earlier(number).serialize(serializer);
    }
    let done = Shared::Value(&**value).serialize(serializer)?;
    VALUES.with_borrow_mut(|values| {
        if let Some(Values { written, .. }) = values {
            written.insert(address, written.len() as u32);
        }
    });
    Ok(done)
}

pub(crate) fn deserialize<'de, T: ?Sized + 'static, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Arc<T>, D::Error>
where
    Box<T>: DeserializeOwned,
{
    let value = Shared::<Box<T>>::deserialize(deserializer)?;
    VALUES.with_borrow_mut(|values| match value {
        Shared::Value(value) => {
            let value: Arc<T> = value.into();
            if let Some(Values { read, .. }) = values {
                read.push(Box::new(Arc::clone(&value)));
            }
            Ok(value)
        }
        Shared::Earlier(number) => {
            let read = values.as_ref().and_then(|values| values.read.get(number as usize));
            let earlier = read.and_then(|value| value.downcast_ref::<Arc<T>>());
            earlier.cloned().ok_or_else(|| D::Error::custom(format!("no shared value has number {number}")))
        }
    })
}

/// The same for values that may be absent.
pub(crate) mod optional {
    use super::*;

    /// A shared value as a value of serde.
    #[derive(Serialize, Deserialize)]
    #[serde(transparent, bound(serialize = "T: Serialize", deserialize = "Box<T>: DeserializeOwned"))]
    struct Wrapped<T: 'static>(#[serde(with = "super")] Arc<T>);

    #[expect(clippy::ref_option, reason = "serde passes the field like this")]
    pub(crate) fn serialize<T: Serialize + 'static, S: Serializer>(
        value: &Option<Arc<T>>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        value.as_ref().map(|value| Wrapped(Arc::clone(value))).serialize(serializer)
    }

    pub(crate) fn deserialize<'de, T: 'static, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<Arc<T>>, D::Error>
    where
        Box<T>: DeserializeOwned,
    {
        Ok(Option::<Wrapped<T>>::deserialize(deserializer)?.map(|Wrapped(value)| value))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct Lane {
        #[serde(with = "super")]
        bytes: Arc<Vec<u8>>,
        #[serde(with = "super")]
        text: Arc<str>,
        #[serde(with = "super::optional")]
        more: Option<Arc<Vec<u8>>>,
    }

    #[test]
    fn shared_values_are_written_once_and_shared_again() {
        let (bytes, text): (Arc<Vec<u8>>, Arc<str>) = (Arc::new(vec![7; 1000]), "text".into());
        let lane = |more| Lane { bytes: Arc::clone(&bytes), text: Arc::clone(&text), more };
        let lanes = vec![lane(None), lane(Some(Arc::clone(&bytes))), lane(Some(Arc::new(vec![8])))];
        let written = scope(|| postcard::to_stdvec(&lanes)).expect("it has a form");
        assert!((1000..1050).contains(&written.len()), "{} bytes", written.len());
        let read: Vec<Lane> = scope(|| postcard::from_bytes(&written)).expect("it can be read");
        assert_eq!(read, lanes, "all values");
        let more = read[1].more.as_ref().expect("the second lane has more");
        assert!(Arc::ptr_eq(&read[0].bytes, more) && Arc::ptr_eq(&read[0].text, &read[2].text), "shared");
    }

    #[test]
    fn references_to_nothing_are_refused() {
        let (value, other): (Arc<Vec<u8>>, Arc<str>) = (Arc::new(vec![1]), "1".into());
        let lanes = [Lane { bytes: Arc::clone(&value), text: other, more: Some(value) }];
        let written = scope(|| postcard::to_stdvec(&lanes)).expect("it has a form");
        for number in [1, 2, 200] {
            let mut changed = written.clone();
            *changed.last_mut().expect("the number of the last value") = number;
            let read = scope(|| postcard::from_bytes::<[Lane; 1]>(&changed));
            assert!(read.is_err(), "value {number} is another one, or none");
        }
        let read = postcard::from_bytes::<[Lane; 1]>(&written);
        assert!(read.is_err(), "nothing was read before, outside of a scope");
    }

    #[test]
    fn values_without_a_scope_are_written_whole() {
        let value = Arc::new(vec![7; 1000]);
        let lane = Lane { bytes: Arc::clone(&value), text: "text".into(), more: Some(value) };
        let written = postcard::to_stdvec(&lane).expect("it has a form");
        assert!((2000..2050).contains(&written.len()), "{} bytes", written.len());
        assert_eq!(postcard::from_bytes::<Lane>(&written).expect("it can be read"), lane, "all values");
    }
}
