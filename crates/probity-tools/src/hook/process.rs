use std::fmt;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use probity_contract::{
    BoxFuture, Cancel, HookVerdict, Interceptor, InterceptorName, Occasion, Points, PolicyError, Window,
};
use rustix::rand::{GetRandomFlags, getrandom};
use tokio::runtime::Handle;
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use super::child::{Leash, Start};
use super::pump::{Question, lock, pump};
use super::talk::{Talk, Told};
use super::{Fault, HookSetupError, QUESTION_BYTES_MAX, environment};

/// How often a child is started, if nothing else is said.
const STARTS_MAX: u32 = 5;
/// Bits of a question's id: what every reader of JSON takes for the same whole number.
const ID_BITS: u32 = 53;

/// A program that intercepts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProcessHook {
    /// The program and its arguments. A name without `/` is looked for in the search path, any other one from `directory`.
    pub command: Vec<String>,
    /// Where it works; the directory of this process if not set.
    pub directory: Option<PathBuf>,
    /// The environment variables that it gets, if they are set. It gets no other one, `PATH` included.
    pub env_names: Vec<String>,
    /// How often it is started at most over the interceptor's life, the first time included.
    pub starts_max: u32,
}

impl ProcessHook {
    /// This program, here, without any environment, started up to five times.
    #[must_use]
    pub const fn new(command: Vec<String>) -> Self {
        Self { command, directory: None, env_names: Vec::new(), starts_max: STARTS_MAX }
    }
}

/// An interceptor that is a long-lived child process: one question a line, one answer a line, both JSON.
///
/// The child is started at the first question, and again at the next one when it has ended, at most `starts_max` times. It is
/// dead, with its process group, when the interceptor is dropped. Several questions can be before it at once; their answers
/// may come in any order. A child that says anything but one answer to an open question is out of step: it is ended, and every
/// question before it has failed.
///
/// It does not promise to confine the child, which has the rights of this process; to reach a daemon that it makes of itself;
/// or, when this process is itself killed, to end it: it reads the end of its standard input then. It keeps no time: the
/// deadline is the driver's.
pub struct ProcessInterceptor {
    name: InterceptorName,
    points: Points,
    window: Option<Window>,
    start: Start,
    starts_max: u32,
    seat: Mutex<Seat>,
}

impl ProcessInterceptor {
    /// The interceptor with its configuration. Looks for the program and reads the environment once, here; starts nothing.
    ///
    /// # Errors
    /// When the command is empty, its program is not there or cannot be executed, or a variable cannot be taken over.
    pub fn new(name: InterceptorName, points: Points, hook: ProcessHook) -> Result<Self, HookSetupError> {
        let ProcessHook { command, directory, env_names, starts_max } = hook;
        let wrong = |why: String| HookSetupError::new(&name, why);
        let mut words = command.into_iter();
        let first = words.next().filter(|program| !program.is_empty());
        let program = first.ok_or_else(|| wrong("its command is empty".to_owned()))?;
        let directory = match directory {
            Some(directory) => std::path::absolute(directory),
            None => std::env::current_dir(),
        };
        let directory = directory.map_err(|error| wrong(format!("find its directory: {error}")))?;
        let program = environment::find(&program, &directory)
            .map_err(|error| wrong(format!("find its program `{program}`: {error}")))?;
        let environment = environment::named(&env_names).map_err(wrong)?;
        let start = Start { program, arguments: words.collect(), directory, environment };
        Ok(Self { name, points, window: None, start, starts_max, seat: Mutex::default() })
    }

    /// Declares that it can judge an answer piece by piece.
    #[must_use]
    pub fn with_window(self, window: Window) -> Self {
        Self { window: Some(window), ..self }
    }

    fn put(&self, occasion: &Occasion) -> Result<Asked, Fault> {
        let id = fresh_id()?;
        let line = question(id, occasion)?;
        let mut seat = lock(&self.seat);
        let talking = seat.talking(&self.start, self.starts_max)?;
        let told = lock(&talking.talk).ask(id)?;
        let asked = Asked { talk: Arc::clone(&talking.talk), id, told };
        // Where the child has just ended, the question has been answered so.
        let _ended = talking.questions.send(Question { id, line });
        Ok(asked)
    }
}

impl Interceptor for ProcessInterceptor {
    fn name(&self) -> &InterceptorName {
        &self.name
    }

    fn points(&self) -> Points {
        self.points
    }

    fn window(&self) -> Option<Window> {
        self.window
    }

    fn intercept<'a>(
        &'a self,
        occasion: Occasion,
        _cancel: &'a Cancel,
    ) -> BoxFuture<'a, Result<HookVerdict, PolicyError>> {
        Box::pin(async move {
            let mut asked = self.put(&occasion)?;
            Ok(asked.told().await?)
        })
    }
}

impl fmt::Debug for ProcessInterceptor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ProcessInterceptor").field("name", &self.name).finish_non_exhaustive()
    }
}

/// The child of now, and how many there were.
#[derive(Default)]
struct Seat {
    starts: u32,
    talking: Option<Talking>,
}

impl Seat {
    /// The child that can be asked; a new one where there is none.
    fn talking(&mut self, start: &Start, starts_max: u32) -> Result<&Talking, Fault> {
        if self.talking.as_ref().is_some_and(|talking| !talking.is_usable()) {
            self.talking = None;
        }
        if self.talking.is_none() {
            if self.starts >= starts_max {
                let words = format!("its process was started {starts_max} times, and is not started again");
                return Err(Fault::broke(words));
            }
            self.starts += 1;
            self.talking = Some(Talking::begin(start)?);
        }
        self.talking.as_ref().ok_or_else(|| Fault::broke("its process is not there"))
    }
}

/// A child that runs, and the task that speaks with it.
struct Talking {
    talk: Arc<Mutex<Talk>>,
    questions: UnboundedSender<Question>,
    leash: Arc<Leash>,
    pump: JoinHandle<()>,
}

impl Talking {
    fn begin(start: &Start) -> Result<Self, Fault> {
        let runtime = Handle::try_current().map_err(|_| Fault::broke("it is asked outside of a runtime"))?;
        let started = start.start();
        let (leash, pipes) =
            started.map_err(|error| Fault::broke(format!("its process cannot be started: {error}")))?;
        let (talk, leash) = (Arc::<Mutex<Talk>>::default(), Arc::new(leash));
        let (questions, put) = unbounded_channel();
        let pump = runtime.spawn(pump(pipes, put, Arc::clone(&talk), Arc::clone(&leash)));
        Ok(Self { talk, questions, leash, pump })
    }

    fn is_usable(&self) -> bool {
        lock(&self.talk).is_usable() && !self.leash.has_ended()
    }
}

impl Drop for Talking {
    fn drop(&mut self) {
        self.pump.abort();
        // Here and now: a host that ends gives the task no more time.
        self.leash.end();
    }
}

/// A question that was put. Dropping it abandons the question and nothing else.
struct Asked {
    talk: Arc<Mutex<Talk>>,
    id: u64,
    told: oneshot::Receiver<Told>,
}

impl Asked {
    async fn told(&mut self) -> Told {
        (&mut self.told).await.unwrap_or_else(|_| Err(Fault::broke("it was ended")))
    }
}

impl Drop for Asked {
    fn drop(&mut self) {
        lock(&self.talk).abandon(self.id);
    }
}

/// The question as one line. The id comes first, so that a program without a JSON library can find it.
fn question(id: u64, occasion: &Occasion) -> Result<Vec<u8>, Fault> {
    let mut line = format!("{{\"id\":{id},\"context\":").into_bytes();
    serde_json::to_writer(&mut line, occasion.context())
        .map_err(|error| Fault::broke(format!("the question has no form: {error}")))?;
    line.extend_from_slice(b"}\n");
    if line.len() > QUESTION_BYTES_MAX {
        return Err(Fault::broke(format!("the question is longer than {QUESTION_BYTES_MAX} bytes")));
    }
    Ok(line)
}

/// An id that cannot be guessed: an answer with it was made after the question was read.
fn fresh_id() -> Result<u64, Fault> {
    let mut bytes = [0_u8; 8];
    match getrandom(&mut bytes, GetRandomFlags::empty()) {
        Ok(8) => Ok(u64::from_le_bytes(bytes) >> (u64::BITS - ID_BITS)),
        Ok(_) | Err(_) => Err(Fault::broke("the system gives no chance for the id of a question")),
    }
}
