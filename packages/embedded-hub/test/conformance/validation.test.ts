import { beforeAll, describe, expect, it } from 'vitest';
import type { AllowedDifference } from './validation/allowed-differences.ts';
import { ALLOWED_DIFFERENCES } from './validation/allowed-differences.ts';
import { embeddedHubWriter } from './validation/embedded-server.ts';
import { readRecordedCases } from './validation/recorded-cases.ts';
import type { ValidationCase, Verdict } from './validation/validation-case.ts';
import { caseName } from './validation/validation-case.ts';
import { answersOf } from './validation/write-cases.ts';

function allowedFor({ object, verb, edits }: ValidationCase): readonly AllowedDifference[] {
  const pointer = edits[0]?.[0] ?? '';
  return ALLOWED_DIFFERENCES.filter(
    (one) => object.startsWith(one.object) && (one.verb ?? verb) === verb && one.path.test(pointer),
  );
}

function differenceOf(want: Verdict, found: Verdict | undefined): 'answer' | 'causes' | undefined {
  if (JSON.stringify(found) === JSON.stringify(want)) return undefined;
  const sameAnswer = found?.status === want.status && found.reason === want.reason;
  return sameAnswer && found.spec === want.spec ? 'causes' : 'answer';
}

describe('validation as recorded from kube-apiserver', () => {
  const recorded = readRecordedCases();
  const objects = [...new Set(recorded.map(({ object }) => object))];
  const used = new Set<AllowedDifference>();
  let created: ReadonlyMap<string, Verdict>;
  let answers: readonly Verdict[];

  beforeAll(async () => {
    ({ created, answers } = await answersOf(embeddedHubWriter(), recorded));
  });

  it('accepts every good object', () => {
    const refused = [...created].filter(([, { status }]) => status !== 201);
    expect(Object.fromEntries(refused)).toEqual({});
  });

  it.each(objects)('%s', (id) => {
    const differing = recorded.flatMap((one, index) => {
      const difference = one.object === id ? differenceOf(one.want, answers[index]) : undefined;
      if (difference === undefined) return [];
      const allowed = allowedFor(one).find(({ differs }) => differs === 'answer' || difference === 'causes');
      if (allowed !== undefined) used.add(allowed);
      return allowed === undefined ? [{ name: caseName(one), want: one.want, found: answers[index] }] : [];
    });
    expect(differing.map(({ name, found }) => [name, found])).toEqual(
      differing.map(({ name, want }) => [name, want]),
    );
  });

  it('needs every difference that it allows', () => {
    expect(ALLOWED_DIFFERENCES.filter((one) => !used.has(one))).toEqual([]);
  });
});
