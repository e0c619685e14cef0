import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '@berth/embedded-hub/json/json-value';
import { storedAnswer } from '../../packages/embedded-hub/test/conformance/stored-form/stored-answer.ts';
import type { StoredCase } from '../../packages/embedded-hub/test/conformance/stored-form/stored-cases.ts';
import {
  differences,
  readStoredForms,
  storedCases,
  storedObjects,
  writeStoredForms,
} from '../../packages/embedded-hub/test/conformance/stored-form/stored-cases.ts';
import {
  caseName,
  withEdits,
} from '../../packages/embedded-hub/test/conformance/validation/validation-case.ts';
import {
  answersOf,
  caseWriter,
} from '../../packages/embedded-hub/test/conformance/validation/write-cases.ts';
import type { ControlPlane } from './peers/control-plane.ts';
import { CONTROL_PLANE_PROGRAMS, startControlPlane } from './peers/control-plane.ts';
import { hasPeers } from './peers/peer-programs.ts';
import { prepareServer, WITHOUT_PLUGINS } from './real-server.ts';

const AT_ONCE = 8;

describe.skipIf(!hasPeers(...CONTROL_PLANE_PROGRAMS))('what a real kube-apiserver stores', () => {
  let real: ControlPlane;
  const renews = process.env['UPDATE_GOLDEN'] === '1';
  const cases = renews ? storedCases() : readStoredForms().cases;
  let created: ReadonlyMap<string, JsonObject | undefined>;
  let answers: readonly (JsonObject | undefined)[];

  beforeAll(async () => {
    real = await startControlPlane([WITHOUT_PLUGINS]);
    const { scheme, send } = await prepareServer(real);
    const writer = caseWriter(scheme, send, { objects: storedObjects(), read: storedAnswer });
    ({ created, answers } = await answersOf(writer, cases, AT_ONCE));
    if (!renews) return;
    const recorded = cases.flatMap((one, index): StoredCase[] => {
      const [base, answer] = [created.get(one.object), answers[index]];
      return base === undefined || answer === undefined ? [] : [{ ...one, want: differences(base, answer) }];
    });
    writeStoredForms({ created: Object.fromEntries(created) as Record<string, JsonObject>, cases: recorded });
  });
  afterAll(() => real?.stop());

  it('accepts every object', () => {
    expect([...created].filter(([, answer]) => answer === undefined)).toEqual([]);
  });

  it('stores what is recorded', () => {
    const recorded = readStoredForms();
    const changed = recorded.cases.flatMap((one, index) => {
      const answer = renews ? undefined : answers[index];
      const base = recorded.created[one.object] as JsonObject;
      const unlike = renews ? [] : differences(withEdits(base, one.want), answer ?? {});
      return unlike.length === 0 ? [] : [{ name: caseName(one), unlike }];
    });
    expect(changed).toEqual([]);
  });
});
