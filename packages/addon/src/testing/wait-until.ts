import { inspect } from 'node:util';
import { systemClock } from '@berth/runtime/clock/system-clock';
import { errorText } from '@berth/runtime/errors';
import { sleep } from '@berth/runtime/loop/sleep';

export interface WaitOptions {
  /** What is waited for, for the message. Default: the text of the question. */
  readonly what?: string | undefined;
  /** Default: that of `withHub`. */
  readonly patienceMs?: number | undefined;
}

const ASK_EVERY_MS = 20;
const MAX_TEXT = 300;

/**
 * Asks again until the answer is truthy.
 * @param problems what else may be the reason, for the message
 * @returns the answer
 * @throws Error when the time is over: what was waited for, and the last answer or what the question threw
 */
export async function waitUntil<T>(
  question: () => T | Promise<T>,
  { what = textOf(question), patienceMs }: WaitOptions & { readonly patienceMs: number },
  problems: () => Promise<readonly string[]>,
): Promise<NonNullable<T>> {
  const untilMs = systemClock.monotonicMs() + patienceMs;
  const never = new AbortController().signal;
  for (;;) {
    let last: string;
    let cause: unknown;
    try {
      const answer = await question();
      if (answer) return answer;
      last = `the last answer was ${shorten(inspect(answer))}`;
    } catch (error) {
      cause = error;
      last = `it threw: ${shorten(errorText(error))}`;
    }
    if (systemClock.monotonicMs() >= untilMs)
      throw new Error(
        [`waited ${patienceMs / 1_000} s for ${what}: ${last}`, ...(await problems())].join('\n'),
        cause === undefined ? undefined : { cause },
      );
    await sleep(systemClock, ASK_EVERY_MS, never);
  }
}

/** The function without its arrow, `hub.get(SECRET, key)`, and without what compilers make of imported names. */
function textOf(question: () => unknown): string {
  const text = question.toString().replace(/^(async\s*)?\(\)\s*=>\s*/, '');
  const names = text.replace(/\(0,\s*[\w$]+\.([\w$]+)\)/g, '$1').replace(/__vite_ssr_import_\d+__\./g, '');
  return shorten(names.replace(/\s+/g, ' '));
}

function shorten(text: string): string {
  return text.length <= MAX_TEXT ? text : `${text.slice(0, MAX_TEXT)}…`;
}
