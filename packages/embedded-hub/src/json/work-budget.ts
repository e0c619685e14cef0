/**
 * Limits how much one request may compute without yielding to others. Work is counted in steps, one
 * for each JSON value that a walk visits, so a request has the same result on slow and fast
 * machines. STEP_LIMIT takes well under 100 ms on a machine of 2024. The clock is a second limit,
 * for requests that take far more time than their steps suggest.
 *
 * The current budget is a variable of this module: the write pipeline is synchronous, so no other
 * request runs during `withinWorkBudget`. Rejected: a parameter, which twenty functions would have
 * to pass through, and which a new walk could forget.
 */
const STEP_LIMIT = 450_000;
/** Wide enough for a slow or busy machine: healthy requests end after a few milliseconds. */
const TIME_LIMIT_MS = 2_000;
const STEPS_PER_CLOCK_CHECK = 50_000;
/** The engine stores larger objects as hash tables, which cost several times as much per key. */
const PLAIN_OBJECT_KEYS = 1_000;
const HASHED_KEY_STEPS = 3;

/** Thrown when the budget is used up. Only the request handler catches it. */
export class WorkExceededError extends Error {}

/** Outside of a request there is no limit; the count restarts when it is used up. */
const UNLIMITED = 2 ** 30;

interface TimeUsed {
  readonly startedMs: number;
  /** CPU usage at the first check of the clock, which most requests never reach. */
  cpu: NodeJS.CpuUsage | undefined;
}

let timeUsed: TimeUsed | undefined;
let remaining = UNLIMITED;
/** The clock is checked when `remaining` falls below this. */
let nextClockCheck = 0;

/**
 * Runs one synchronous part of a request with a budget of its own. Nested calls use the outer
 * budget.
 * @throws WorkExceededError when the work exceeds the limit of one request
 */
export function withinWorkBudget<T>(run: () => T, steps = STEP_LIMIT): T {
  if (timeUsed !== undefined) return run();
  timeUsed = { startedMs: performance.now(), cpu: undefined };
  remaining = steps;
  nextClockCheck = Math.max(0, steps - STEPS_PER_CLOCK_CHECK);
  try {
    return run();
  } finally {
    timeUsed = undefined;
    remaining = UNLIMITED;
    nextClockCheck = 0;
  }
}

/**
 * Charges for work before it is done; outside of a request there is no limit. Called for every
 * object and list of every walk, with integers only, so that the engine allocates no memory.
 * @throws WorkExceededError
 */
export function chargeWork(steps: number): void {
  remaining -= steps;
  if (remaining < nextClockCheck) checkClock();
}

/**
 * Charges for one walk over the keys of an object.
 * @throws WorkExceededError
 */
export function chargeKeys(count: number): void {
  chargeWork(count <= PLAIN_OBJECT_KEYS ? count + 1 : count * HASHED_KEY_STEPS);
}

/**
 * Charges for reading a text of which `perStep` characters cost as much as one value.
 * @throws WorkExceededError
 */
export function chargeText(length: number, perStep: number): void {
  chargeWork(Math.ceil(length / perStep));
}

function checkClock(): void {
  if (timeUsed === undefined) {
    remaining = UNLIMITED;
    return;
  }
  if (remaining < 0) throw new WorkExceededError();
  nextClockCheck = Math.max(0, remaining - STEPS_PER_CLOCK_CHECK);
  timeUsed.cpu ??= process.cpuUsage();
  if (performance.now() - timeUsed.startedMs < TIME_LIMIT_MS) return;
  // Uses CPU time, because the wall clock also counts the time in which the process waits for a
  // processor.
  const { user, system } = process.cpuUsage(timeUsed.cpu);
  if ((user + system) / 1000 >= TIME_LIMIT_MS) throw new WorkExceededError();
}
