/*
 * How much one request may compute without giving way to others. Work is counted in steps, one for each JSON value that one pass
 * looks at, so the same request is always answered in the same way, on a slow machine as on a fast one. STEP_LIMIT takes well under
 * 100 ms on a machine of 2024. The clock is only the second line: it ends what costs far more time than its steps say.
 *
 * The budget in force is held here and not passed from function to function: the write pipeline is synchronous, so between the
 * beginning and the end of `withinWorkBudget` no other request runs, and a pass far below (a comparison, a sort) can be charged for
 * without twenty signatures that hand the budget through. The rejected alternative, a parameter, also invites a new pass to forget it.
 */
const STEP_LIMIT = 450_000;
/** Wide enough for a slow or busy machine: healthy requests end after a few milliseconds. */
const TIME_LIMIT_MS = 2_000;
const STEPS_PER_LOOK_AT_THE_CLOCK = 50_000;
/** The engine keeps larger objects as hash tables, which cost several times as much per key. */
const PLAIN_OBJECT_KEYS = 1_000;
const HASHED_KEY_STEPS = 3;

/** The budget is spent. Caught where the request ends, and nowhere before. */
export class WorkExceededError extends Error {}

/** Outside of a request nothing is refused; the count starts again when it has run out. */
const UNLIMITED = 2 ** 30;

interface Clocks {
  readonly startedMs: number;
  /** Since the first look at the clock: most requests never get that far. */
  cpu: NodeJS.CpuUsage | undefined;
}

let clocks: Clocks | undefined;
let remaining = UNLIMITED;
/** The clock is looked at when `remaining` falls below this. */
let nextLook = 0;

/**
 * Runs one synchronous part of a request with a budget of its own. A part inside a part pays from the outer budget.
 * @throws WorkExceededError when the work is more than one request may cause
 */
export function withinWorkBudget<T>(run: () => T, steps = STEP_LIMIT): T {
  if (clocks !== undefined) return run();
  clocks = { startedMs: performance.now(), cpu: undefined };
  remaining = steps;
  nextLook = Math.max(0, steps - STEPS_PER_LOOK_AT_THE_CLOCK);
  try {
    return run();
  } finally {
    clocks = undefined;
    remaining = UNLIMITED;
    nextLook = 0;
  }
}

/**
 * Pays for work that is about to be done; outside of a request nothing is refused. Called for every object and list of every pass:
 * whole numbers only, so that the engine need not allocate any.
 * @throws WorkExceededError
 */
export function chargeWork(steps: number): void {
  remaining -= steps;
  if (remaining < nextLook) lookAtTheClock();
}

/** Pays for one pass over the keys of an object. @throws WorkExceededError */
export function chargeKeys(count: number): void {
  chargeWork(count <= PLAIN_OBJECT_KEYS ? count + 1 : count * HASHED_KEY_STEPS);
}

/** Pays for reading a text of which `perStep` characters cost as much as one value. @throws WorkExceededError */
export function chargeText(length: number, perStep: number): void {
  chargeWork(Math.ceil(length / perStep));
}

function lookAtTheClock(): void {
  if (clocks === undefined) {
    remaining = UNLIMITED;
    return;
  }
  if (remaining < 0) throw new WorkExceededError();
  nextLook = Math.max(0, remaining - STEPS_PER_LOOK_AT_THE_CLOCK);
  clocks.cpu ??= process.cpuUsage();
  if (performance.now() - clocks.startedMs < TIME_LIMIT_MS) return;
  // While the process waits for a processor the wall clock runs on; that is not the request's fault.
  const { user, system } = process.cpuUsage(clocks.cpu);
  if ((user + system) / 1000 >= TIME_LIMIT_MS) throw new WorkExceededError();
}
