//! Projections: connection rules, weights, delays and plasticity.

use kvrm_spiking::{ConnectionRule, Delay, PlasticityRule, PopulationId, Weight};
use serde::Deserialize;

use super::context::{BuildContext, DescriptionError};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Projection {
    source: Names,
    target: Names,
    rule: Rule,
    weight: Number,
    /// The delay, in ms. The default is one step.
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

/// One or several populations. The projection applies to each of them.
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

/// A distribution of weights or delays.
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

/// The name of a projection in messages, and its error.
type Failure = (String, DescriptionError);

impl Projection {
    pub(super) fn connect(&self, context: &mut BuildContext) -> Result<(), Failure> {
        for source in self.source.names() {
            for target in self.target.names() {
                let within = || format!("projection from `{source}` to `{target}`");
                self.connect_pair(context, source, target).map_err(|error| (within(), error))?;
            }
        }
        Ok(())
    }

    fn connect_pair(
        &self,
        context: &mut BuildContext,
        source: &str,
        target: &str,
    ) -> Result<(), DescriptionError> {
        let (source, target) = (context.population(source)?, context.population(target)?);
        let projection = kvrm_spiking::Projection {
            rule: self.rule.connection_rule(),
            weight: self.weight.weight()?,
            delay: self.delay.map_or(Ok(Delay::Steps(1)), Number::delay)?,
            autapses: self.autapses,
            multapses: self.multapses,
        };
        context.builder.connect(source, target, &projection)?;
        if let Some(learn) = &self.learn {
            let (weights, rule) = learn.rule(context)?;
            context.builder.learn(source, target, weights, rule)?;
        }
        Ok(())
    }
}

impl BuildContext {
    pub(super) fn population(&self, name: &str) -> Result<PopulationId, DescriptionError> {
        let found = self.populations.get(name).copied();
        found.ok_or_else(|| DescriptionError::Text(format!("there is no population `{name}`")))
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
    fn connection_rule(&self) -> ConnectionRule {
        match self {
            Self::OneToOne => ConnectionRule::OneToOne,
            Self::AllToAll => ConnectionRule::AllToAll,
            Self::Probability(probability) => ConnectionRule::Probability(*probability),
            Self::InDegree(degree) => ConnectionRule::InDegree(*degree),
            Self::OutDegree(degree) => ConnectionRule::OutDegree(*degree),
            Self::Total(synapses) => ConnectionRule::Total(*synapses),
            Self::Offsets(offsets) => ConnectionRule::Offsets(offsets.clone()),
        }
    }
}

impl Number {
    fn weight(self) -> Result<Weight, DescriptionError> {
        match self {
            Self::Constant(weight) => Ok(Weight::Constant(weight)),
            Self::Normal { mean, std, max: None } => Ok(Weight::Normal { mean, std }),
            Self::Normal { max: Some(_), .. } => {
                Err(DescriptionError::Text("`max` is only for delays, not for weights".to_owned()))
            }
            Self::Uniform { low, high } => Ok(Weight::Uniform { low, high }),
        }
    }

    fn delay(self) -> Result<Delay, DescriptionError> {
        match self {
            // Rounded to steps, like the delays of a range.
            Self::Constant(delay) => Ok(Delay::Uniform { low: delay, high: delay }),
            Self::Normal { mean, std, max: Some(max) } => Ok(Delay::Normal { mean, std, max }),
            Self::Normal { max: None, .. } => {
                Err(DescriptionError::Text("a delay with `mean` and `std` also needs `max`".to_owned()))
            }
            Self::Uniform { low, high } => Ok(Delay::Uniform { low, high }),
        }
    }
}

impl Learn {
    /// Returns the limits of weights, and the plasticity rule in weight units.
    fn rule(&self, context: &BuildContext) -> Result<([f64; 2], PlasticityRule), DescriptionError> {
        let unit = f64::from(context.fraction_bits).exp2();
        let units = |what: &str, amount: f64| {
            let units = (amount * unit).round();
            let fits = (0.0..=f64::from(i32::MAX)).contains(&units);
            let wrong = || {
                DescriptionError::Text(format!(
                    "`{what}` is {amount}, expected 0 or more, and less than 2^31 weight units"
                ))
            };
            if fits { Ok(units) } else { Err(wrong()) }
        };
        Ok(match *self {
            Self::Window { weights, steps, ltp, ltd } => {
                let [ltp, ltd] = [units("ltp", ltp)?, units("ltd", ltd)?].map(|units| units as i32);
                (weights, PlasticityRule::Window { steps, ltp, ltd })
            }
            Self::Pair { weights, potentiation, depression, tau_plus, tau_minus } => {
                for (what, tau) in [("tau_plus", tau_plus), ("tau_minus", tau_minus)] {
                    if !(tau > 0.0 && tau.is_finite()) {
                        return Err(DescriptionError::Text(format!(
                            "`{what}` is {tau}, expected more than 0 ms"
                        )));
                    }
                }
                let amounts = [units("potentiation", potentiation)?, units("depression", depression)?];
                (
                    weights,
                    PlasticityRule::exponential(amounts, [tau_plus, tau_minus].map(|tau| tau / context.dt)),
                )
            }
        })
    }
}
