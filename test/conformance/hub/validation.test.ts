import { beforeAll, describe, expect, it } from 'vitest';
import { embeddedHubWriter } from './validation/embedded-server.ts';
import { readRecordedCases } from './validation/recorded-cases.ts';
import type { Verdict } from './validation/validation-case.ts';
import { caseName } from './validation/validation-case.ts';
import { answersOf } from './validation/write-cases.ts';

describe('validation as recorded from kube-apiserver', () => {
  const recorded = readRecordedCases();
  const objects = [...new Set(recorded.map(({ object }) => object))];
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
      if (one.object !== id || JSON.stringify(answers[index]) === JSON.stringify(one.want)) return [];
      return [{ name: caseName(one), want: one.want, found: answers[index] }];
    });
    expect(differing.map(({ name, found }) => [name, found])).toEqual(
      differing.map(({ name, want }) => [name, want]),
    );
  });
});
