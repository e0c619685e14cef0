import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/hub/json/json-value.ts';
import { objectAt, textAt } from '../../src/hub/json/json-value.ts';
import { createScheme } from '../../src/hub/scheme/create-scheme.ts';
import { definitionFromCrd } from '../../src/hub/scheme/crd.ts';
import { allCases } from '../conformance/hub/validation/all-cases.ts';
import { carrierDefinition } from '../conformance/hub/validation/embedded-server.ts';
import { NAMESPACE } from '../conformance/hub/validation/good-objects.ts';
import { readRecordedCases, writeRecordedCases } from '../conformance/hub/validation/recorded-cases.ts';
import type { RecordedCase, ValidationCase, Verdict } from '../conformance/hub/validation/validation-case.ts';
import { caseName } from '../conformance/hub/validation/validation-case.ts';
import type { CaseWriter } from '../conformance/hub/validation/write-cases.ts';
import { answersOf, caseWriter } from '../conformance/hub/validation/write-cases.ts';
import { ocmCrds } from './ocm-crds.ts';
import type { ControlPlane } from './peers/control-plane.ts';
import { CONTROL_PLANE_PROGRAMS, startControlPlane } from './peers/control-plane.ts';
import { hasPeers } from './peers/peer-programs.ts';

/** These change pods or need controllers; what is compared is validation. */
const WITHOUT_PLUGINS =
  '--disable-admission-plugins=ServiceAccount,DefaultTolerationSeconds,Priority,LimitRanger,ResourceQuota';

const POLL_MS = 50;
const AT_ONCE = 8;

/** kube-apiserver 1.35.4 itself crashes on some objects, e.g. an Indexed Job without completions but with a successPolicy. */
const NO_ANSWER = 0;
/** The real server gives Services random addresses, so what it says of a changed one is not the same in every run. */
const ABOUT_ALLOCATED_ADDRESS = /^update Service\/.* \/spec\/clusterIPs?=/;

describe.skipIf(!hasPeers(...CONTROL_PLANE_PROGRAMS))('validation by a real kube-apiserver', () => {
  let real: ControlPlane;
  const cases = process.env['UPDATE_GOLDEN'] === '1' ? allCases() : readRecordedCases();
  let created: ReadonlyMap<string, Verdict>;
  let answers: readonly Verdict[];

  beforeAll(async () => {
    real = await startControlPlane([WITHOUT_PLUGINS]);
    ({ created, answers } = await answersOf(await realWriter(real), cases, AT_ONCE));
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

async function realWriter({ client }: ControlPlane): Promise<CaseWriter> {
  const crds = [...ocmCrds(), carrierDefinition()];
  for (const crd of crds) {
    const path = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
    const answer = await client.call('POST', path, crd);
    expect(answer.status, JSON.stringify(answer.body)).toBe(201);
  }
  // fixed wait: the pace of a poll
  for (const crd of crds) while (!(await isServed(client, crd))) await pause(POLL_MS);
  await client.call('POST', '/api/v1/namespaces', { metadata: { name: NAMESPACE } });
  const scheme = createScheme();
  scheme.register(definitionFromCrd(carrierDefinition()));
  return caseWriter(scheme, (method, path, body) =>
    client.call(method, path, body).catch((error: unknown) => {
      if ((error as NodeJS.ErrnoException).code !== 'ECONNRESET') throw error;
      return { status: NO_ANSWER, body: {} };
    }),
  );
}

async function isServed(client: ControlPlane['client'], crd: JsonObject): Promise<boolean> {
  const spec = objectAt(crd, 'spec');
  const versions = (spec?.['versions'] ?? []) as JsonObject[];
  const plural = textAt(objectAt(spec, 'names'), 'plural');
  for (const version of versions) {
    const path = `/apis/${textAt(spec, 'group')}/${textAt(version, 'name')}/${plural}`;
    if ((await client.call('GET', path)).status !== 200) return false;
  }
  return true;
}
