import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { allCases } from '../../packages/embedded-hub/test/conformance/validation/all-cases.ts';
import {
  readRecordedCases,
  writeRecordedCases,
} from '../../packages/embedded-hub/test/conformance/validation/recorded-cases.ts';
import type {
  RecordedCase,
  ValidationCase,
  Verdict,
} from '../../packages/embedded-hub/test/conformance/validation/validation-case.ts';
import { caseName } from '../../packages/embedded-hub/test/conformance/validation/validation-case.ts';
import {
  answersOf,
  caseWriter,
} from '../../packages/embedded-hub/test/conformance/validation/write-cases.ts';
import type { ControlPlane } from './peers/control-plane.ts';
import { CONTROL_PLANE_PROGRAMS, startControlPlane } from './peers/control-plane.ts';
import { hasPeers } from './peers/peer-programs.ts';
import { NO_ANSWER, prepareServer, WITHOUT_PLUGINS } from './real-server.ts';

const AT_ONCE = 8;

/** The real server gives Services random addresses, so what it says of a changed one is not the same in every run. */
const ABOUT_ALLOCATED_ADDRESS = /^update Service\/.* \/spec\/clusterIPs?=/;

describe.skipIf(!hasPeers(...CONTROL_PLANE_PROGRAMS))('validation by a real kube-apiserver', () => {
  let real: ControlPlane;
  const cases = process.env['UPDATE_GOLDEN'] === '1' ? allCases() : readRecordedCases();
  let created: ReadonlyMap<string, Verdict>;
  let answers: readonly Verdict[];

  beforeAll(async () => {
    real = await startControlPlane([WITHOUT_PLUGINS]);
    const { scheme, send } = await prepareServer(real);
    ({ created, answers } = await answersOf(caseWriter(scheme, send), cases, AT_ONCE));
    if (process.env['UPDATE_GOLDEN'] !== '1') return;
    const recorded = cases.map(({ object, verb, edits }, index): RecordedCase => {
      return { object, verb, edits, want: answers[index] as Verdict };
    });
    writeRecordedCases(recorded.filter(({ want }) => want.status !== NO_ANSWER));
  });
  afterAll(() => real?.stop());

  it('accepts every good object', () => {
    const refused = [...created].filter(([, { status }]) => status !== 201);
    expect(Object.fromEntries(refused)).toEqual({});
  });

  it('answers as it is recorded', () => {
    const wanted = new Map(readRecordedCases().map((one) => [keyOf(one), textOf(one.want)]));
    const changed = cases.flatMap((one, index) => {
      const answer = answers[index];
      const random = answer?.status === NO_ANSWER || ABOUT_ALLOCATED_ADDRESS.test(caseName(one));
      const same = random || (answer !== undefined && wanted.get(keyOf(one)) === textOf(answer));
      return same ? [] : [{ name: caseName(one), answer }];
    });
    expect(changed).toEqual([]);
  });
});

/** Causes in a fixed order: Go visits the entries of a map in another order each time. */
const textOf = ({ causes, ...verdict }: Verdict): string =>
  JSON.stringify({ ...verdict, causes: [...(causes ?? [])].sort() });

const keyOf = ({ object, verb, edits }: ValidationCase): string => JSON.stringify([object, verb, edits]);
