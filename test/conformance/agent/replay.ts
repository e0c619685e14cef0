import { setTimeout as sleep } from 'node:timers/promises';
import { PATIENCE_MS } from '@berth/test-kit/patience';
import { placeOfDifference } from './deviations.ts';
import { differences } from './differences.ts';
import { Observer } from './observe.ts';
import type { RawClient } from './raw-client.ts';
import type { Observed, RecordedHistory } from './recorded.ts';
import { takeStep } from './take-step.ts';

/** Nothing may have changed for this long before a state counts as the one after a step. */
const QUIET_MS = 500;
const POLL_MS = 250;

export interface StepResult {
  readonly step: number;
  readonly differences: readonly string[];
}

/**
 * Takes every step of a history and compares what follows from it. Goes on after a difference: later steps may tell more.
 * @param meant the places that are to differ: a state that differs elsewhere, or not there, may still be on its way
 */
export async function replay(
  client: RawClient,
  hash: string,
  history: RecordedHistory,
  meant: readonly string[],
): Promise<readonly StepResult[]> {
  const observer = new Observer(client, hash, history);
  const results: StepResult[] = [];
  for (const [index, step] of history.steps.entries()) {
    const status = await takeStep(client, hash, step);
    const refused =
      status === undefined || status === step.answer?.status ? [] : [answerText(status, step.answer?.status)];
    const found =
      step.observed === undefined ? [] : await settled(observer, history, index, meantAt(meant, index));
    results.push({ step: index, differences: [...refused, ...found] });
  }
  return results.filter((result) => result.differences.length > 0);
}

function answerText(got: number, recorded: number | undefined): string {
  return `answer: got ${got}, recorded ${recorded}`;
}

/** Those of what follows from one step, without its number. */
function meantAt(meant: readonly string[], index: number): ReadonlySet<string> {
  const step = `${index} `;
  const places = meant.filter((place) => place.startsWith(step)).map((place) => place.slice(step.length));
  return new Set(places.filter((place) => place !== 'answer'));
}

async function settled(
  observer: Observer,
  history: RecordedHistory,
  index: number,
  meant: ReadonlySet<string>,
): Promise<readonly string[]> {
  const want = history.steps[index]?.observed as Observed;
  const deadline = Date.now() + PATIENCE_MS;
  let last = '';
  let quietSince = Date.now();
  for (;;) {
    const got = await observer.look(want);
    const text = JSON.stringify(got);
    if (text !== last) quietSince = Date.now();
    last = text;
    const found = differences(history, index, got);
    const quiet = Date.now() - quietSince >= QUIET_MS;
    const places = new Set(found.map((text) => placeOfDifference(history.name, text)));
    const isThere = places.size === meant.size && [...places].every((place) => meant.has(place));
    if ((quiet && isThere) || Date.now() > deadline) {
      observer.commit();
      return found;
    }
    // fixed wait: the pace of a poll
    await sleep(POLL_MS);
  }
}
