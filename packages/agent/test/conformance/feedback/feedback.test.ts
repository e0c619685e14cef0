import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { parseExactJson } from '@berth/runtime/json/exact-json';
import type { FeedbackRule, FeedbackValue } from '@berth/ocm/kind/manifest-work';
import type { KubeObject } from '@berth/kube/model/object-meta';
import { aggregateErrorTexts, readFeedback } from '../../../src/rules/feedback/feedback.ts';

interface Recorded {
  readonly case: {
    readonly name: string;
    readonly rawFeedbackJsonString: boolean;
    readonly maxJSONRawLength?: number;
    readonly object: KubeObject;
    readonly rules: readonly FeedbackRule[];
  };
  readonly expected: readonly {
    readonly values: readonly FeedbackValue[];
    readonly errors: readonly { readonly kind: string; readonly name: string; readonly text: string }[];
    readonly error: string | null;
  }[];
}

const lines = gunzipSync(readFileSync(new URL('./feedback.jsonl.gz', import.meta.url)))
  .toString('utf8')
  .trim()
  .split('\n');
const FREE_TEXT = new Set(['syntax', 'evaluation']);

describe('status feedback as recorded', () => {
  it.each(lines.map((line) => parseExactJson(line) as Recorded).map((r) => ({ name: r.case.name, r })))(
    '$name',
    ({ r }) => {
      const got = r.case.rules.map((rule) =>
        readFeedback(r.case.object, [rule], {
          rawJson: r.case.rawFeedbackJsonString,
          maxRawJsonBytes: r.case.maxJSONRawLength,
        }),
      );
      expect(got.map((g) => g.values)).toEqual(r.expected.map((e) => e.values));
      // The record names a WellKnownStatus rule, never one of its paths: one error at most, without the path's name.
      const named = got.map((g, rule) =>
        r.case.rules[rule]?.type === 'JSONPaths'
          ? g.errors
          : g.errors.slice(0, 1).map((error) => ({ ...error, name: '' })),
      );
      expect(named.map((errors) => errors.map((e) => [e.name, e.kind]))).toEqual(
        r.expected.map((e) => e.errors.map((x) => [x.name, x.kind])),
      );
      for (const [index, want] of r.expected.entries()) {
        const texts = got[index]?.errors ?? [];
        for (const [at, error] of texts.entries())
          if (!FREE_TEXT.has(error.kind)) expect(error.text).toContain(want.errors[at]?.name);
        const all = aggregateErrorTexts(texts.map((e) => e.text));
        expect(all === undefined).toBe(want.error === null);
      }
    },
  );
});
