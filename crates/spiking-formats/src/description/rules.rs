//! Projections: rules, weights, delays and learning.

use kvrm_spiking::{Connect, Delay, PopulationId, Rule as Learning, Weight};
use serde::Deserialize;

use super::site::{Refused, Site};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Projection {
    source: Names,
    target: Names,
    rule: Rule,
    weight: Number,
    /// ms; a step unless said.
    delay: Option<Number>,
    #[serde(default = "yes")]
    autapses: bool,
    #[serde(default = "yes")]
    multapses: bool,
    learn: Option<Learn>,
}

const fn yes() -> bool {
    true
}

/// Populations: several stand for each of them.
#[derive(Deserialize)]
#[serde(untagged, expecting = "expected the name of a population, or a list of names")]
enum Names {
    One(String),
    Several(Vec<String>),
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Rule {
    OneToOne,
    AllToAll,
    Probability(f64),
    InDegree(u32),
    OutDegree(u32),
    Total(u64),
    Offsets(Vec<[i32; 3]>),
}

/// A weight or a delay.
#[derive(Clone, Copy, Deserialize)]
#[serde(
    untagged,
    expecting = "expected a number, { mean = NUMBER, std = NUMBER } or { low = NUMBER, high = NUMBER }"
)]
enum Number {
    Constant(f64),
    Normal { mean: f64, std: f64, max: Option<f64> },
    Uniform { low: f64, high: f64 },
}

#[derive(Deserialize)]
#[serde(rename_all = "lowercase", deny_unknown_fields)]
enum Learn {
    Window { weights: [f64; 2], steps: u32, ltp: f64, ltd: f64 },
    Pair { weights: [f64; 2], potentiation: f64, depression: f64, tau_plus: f64, tau_minus: f64 },
}

/// What a projection is in messages, and what is wrong with it.
type Failure = (String, Refused);

impl Projection {
    pub(super) fn connect(&self, site: &mut Site) -> Result<(), Failure> {
        for source in self.source.names() {
            for target in self.target.names() {
                let within = || format!("projection from `{source}` to `{target}`");
                self.connect_pair(site, source, target).map_err(|refused| (within(), refused))?;
            }
        }
        Ok(())
    }

    fn connect_pair(&self, site: &mut Site, source: &str, target: &str) -> Result<(), Refused> {
        let (source, target) = (site.population(source)?, site.population(target)?);
        let projection = kvrm_spiking::Projection {
            connect: self.rule.connect(),
            weight: self.weight.weight()?,
            delay: self.delay.map_or(Ok(Delay::Steps(1)), Number::delay)?,
            autapses: self.autapses,
            multapses: self.multapses,
        };
        site.builder.connect(source, target, &projection)?;
        if let Some(learn) = &self.learn {
            let (weights, rule) = learn.rule(site)?;
            site.builder.learn(source, target, weights, rule)?;
        }
        Ok(())
    }
}

impl Site {
    pub(super) fn population(&self, name: &str) -> Result<PopulationId, Refused> {
        let found = self.populations.get(name).copied();
        found.ok_or_else(|| Refused::Text(format!("there is no population `{name}`")))
    }
}

impl Names {
    fn names(&self) -> &[String] {
        match self {
            Self::One(name) => std::slice::from_ref(name),
            Self::Several(names) => names,
        }
    }
}

impl Rule {
    fn connect(&self) -> Connect {
        match self {
            Self::OneToOne => Connect::OneToOne,
            Self::AllToAll => Connect::AllToAll,
            Self::Probability(probability) => Connect::Probability(*probability),
            Self::InDegree(degree) => Connect::InDegree(*degree),
            Self::OutDegree(degree) => Connect::OutDegree(*degree),
            Self::Total(synapses) => Connect::Total(*synapses),
            Self::Offsets(offsets) => Connect::Offsets(offsets.clone()),
        }
    }
}

impl Number {
    fn weight(self) -> Result<Weight, Refused> {
        match self {
            Self::Constant(weight) => Ok(Weight::Constant(weight)),
            Self::Normal { mean, std, max: None } => Ok(Weight::Normal { mean, std }),
            Self::Normal { max: Some(_), .. } => Err(Refused::Text("weights have no `max`".to_owned())),
            Self::Uniform { low, high } => Ok(Weight::Uniform { low, high }),
        }
    }

    fn delay(self) -> Result<Delay, Refused> {
        match self {
            // Rounded to steps as those of a range.
            Self::Constant(delay) => Ok(Delay::Uniform { low: delay, high: delay }),
            Self::Normal { mean, std, max: Some(max) } => Ok(Delay::Normal { mean, std, max }),
            Self::Normal { max: None, .. } => {
                Err(Refused::Text("a delay with `mean` and `std` needs the longest one, `max`".to_owned()))
            }
            Self::Uniform { low, high } => Ok(Delay::Uniform { low, high }),
        }
    }
}

impl Learn {
    /// The limits of weights, and the rule in weight units.
    fn rule(&self, site: &Site) -> Result<([f64; 2], Learning), Refused> {
        let unit = f64::from(site.fraction_bits).exp2();
        let units = |what: &str, amount: f64| {
            let units = (amount * unit).round();
            let fits = (0.0..=f64::from(i32::MAX)).contains(&units);
            let wrong = || Refused::Text(format!("`{what}` is {amount}, expected 0 or more, in 31 bits"));
            if fits { Ok(units) } else { Err(wrong()) }
        };
        Ok(match *self {
            Self::Window { weights, steps, ltp, ltd } => {
                let [ltp, ltd] = [units("ltp", ltp)?, units("ltd", ltd)?].map(|units| units as i32);
                (weights, Learning::Window { steps, ltp, ltd })
            }
            Self::Pair { weights, potentiation, depression, tau_plus, tau_minus } => {
                for (what, tau) in [("tau_plus", tau_plus), ("tau_minus", tau_minus)] {
                    if !(tau > 0.0 && tau.is_finite()) {
                        return Err(Refused::Text(format!("`{what}` is {tau}, expected more than 0 ms")));
                    }
                }
                let amounts = [units("potentiation", potentiation)?, units("depression", depression)?];
                (weights, Learning::exponential(amounts, [tau_plus, tau_minus].map(|tau| tau / site.dt)))
            }
        })
    }
}
