import { expect, it } from 'vitest';
import { readPrometheusResponse, type SeriesOwner } from '../../../src/rules/scores/prometheus-response.ts';

const BY_LABEL: SeriesOwner = { kind: 'label', label: 'cluster' };
const ONE: SeriesOwner = { kind: 'cluster', name: 'c1' };
const vector = (...series: readonly (readonly [labels: object, value: string])[]) => ({
  status: 'success',
  data: {
    resultType: 'vector',
    result: series.map(([metric, value]) => ({ metric, value: [1_435_781_451.781, value] })),
  },
});

it.each([
  {
    name: 'by label',
    answer: vector([{ cluster: 'c1' }, '12.9'], [{ cluster: 'c2' }, '-12.9']),
    owner: BY_LABEL,
    want: { c1: 12, c2: -12 },
  },
  {
    name: 'out of range',
    answer: vector([{ cluster: 'c1' }, '1e9'], [{ cluster: 'c2' }, '-101']),
    owner: BY_LABEL,
    want: { c1: 100, c2: -100 },
  },
  {
    name: 'no number',
    answer: vector([{ cluster: 'c1' }, 'NaN'], [{ cluster: 'c2' }, '+Inf']),
    owner: BY_LABEL,
    want: {},
  },
  { name: 'no label', answer: vector([{}, '1'], [{ cluster: '' }, '2']), owner: BY_LABEL, want: {} },
  {
    name: 'a label of every object',
    answer: vector([{}, '1']),
    owner: { kind: 'label', label: 'constructor' } as const,
    want: {},
  },
  { name: 'one cluster', answer: vector([{ any: 'x' }, '-0.5']), owner: ONE, want: { c1: 0 } },
  { name: 'nothing', answer: vector(), owner: ONE, want: {} },
])('reads scores: $name', ({ answer, owner, want }) => {
  const read = readPrometheusResponse(answer, owner);
  expect(read.kind === 'scores' ? Object.fromEntries(read.byCluster) : read).toEqual(want);
});

it.each([
  { answer: '', want: 'not a JSON object' },
  { answer: { status: 'error', errorType: 'bad_data', error: 'parse error' }, want: 'bad_data: parse error' },
  { answer: { status: 'success', data: { resultType: 'matrix', result: [] } }, want: 'is a matrix' },
  { answer: { status: 'success' }, want: 'without a type' },
  { answer: vector([{ a: '1' }, '1'], [{ a: '2' }, '2']), want: 'more than one series of cluster "c1"' },
])('says what is wrong: $want', ({ answer, want }) => {
  expect(readPrometheusResponse(answer, ONE)).toEqual({
    kind: 'problem',
    message: expect.stringContaining(want),
  });
});
