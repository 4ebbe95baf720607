use std::fmt;

use serde::{Deserialize, Serialize};

/// Where an interceptor is heard: the eight points of AGENT-HOOKS-0.1, in the order of a run's life.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Point {
    /// Before anything else.
    AgentStartup,
    /// A message comes in, and stands nowhere yet.
    Input,
    /// A window is about to be sent to the model.
    PreModelCall,
    /// The model has answered; its reply stands nowhere yet.
    PostModelCall,
    /// A call was proposed; it is not frozen yet.
    PreToolCall,
    /// A tool came back; its result stands nowhere yet.
    PostToolCall,
    /// An answer is about to be released.
    Output,
    /// The run has ended. Nothing follows from what is said here.
    AgentShutdown,
}

impl Point {
    /// All of them.
    pub const ALL: [Self; 8] = [
        Self::AgentStartup,
        Self::Input,
        Self::PreModelCall,
        Self::PostModelCall,
        Self::PreToolCall,
        Self::PostToolCall,
        Self::Output,
        Self::AgentShutdown,
    ];

    /// Its name in the specification.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::AgentStartup => "agent_startup",
            Self::Input => "input",
            Self::PreModelCall => "pre_model_call",
            Self::PostModelCall => "post_model_call",
            Self::PreToolCall => "pre_tool_call",
            Self::PostToolCall => "post_tool_call",
            Self::Output => "output",
            Self::AgentShutdown => "agent_shutdown",
        }
    }

    /// Whether something may be put in place here.
    #[must_use]
    pub const fn may_transform(self) -> bool {
        !matches!(self, Self::AgentStartup | Self::AgentShutdown)
    }

    const fn bit(self) -> u8 {
        1 << self as u8
    }
}

impl fmt::Display for Point {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A set of points.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(from = "Vec<Point>", into = "Vec<Point>")]
pub struct Points(u8);

impl Points {
    /// None.
    pub const NONE: Self = Self(0);
    /// All eight.
    pub const ALL: Self = Self(u8::MAX);
    /// The message boundary: `input` and `output`.
    pub const MESSAGES: Self = Self(Point::Input.bit() | Point::Output.bit());

    /// One point.
    #[must_use]
    pub const fn one(point: Point) -> Self {
        Self(point.bit())
    }

    /// These and one more.
    #[must_use]
    pub const fn and(self, point: Point) -> Self {
        Self(self.0 | point.bit())
    }

    /// All of both.
    #[must_use]
    pub const fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Whether the point is one of them.
    #[must_use]
    pub const fn contains(self, point: Point) -> bool {
        self.0 & point.bit() != 0
    }

    /// The points, in the order of a run's life.
    pub fn iter(self) -> impl Iterator<Item = Point> {
        Point::ALL.into_iter().filter(move |point| self.contains(*point))
    }
}

impl FromIterator<Point> for Points {
    fn from_iter<T: IntoIterator<Item = Point>>(points: T) -> Self {
        points.into_iter().fold(Self::NONE, Self::and)
    }
}

impl From<Vec<Point>> for Points {
    fn from(points: Vec<Point>) -> Self {
        points.into_iter().collect()
    }
}

impl From<Points> for Vec<Point> {
    fn from(points: Points) -> Self {
        points.iter().collect()
    }
}

impl fmt::Debug for Points {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.iter().map(Point::name)).finish()
    }
}
