import { describe, expect, it } from 'vitest';
import { isRefreshed, withRefreshTime } from '../../../../src/core/argocd/pull/refresh-request.ts';
import type { Application } from '../../../../src/core/argocd/argocd-kinds.ts';
import type { ManifestWork } from '@berth/ocm/kind/manifest-work';

const REFRESH = 'argocd.argoproj.io/refresh';
const TIME = 'argocd.argoproj.io/refresh-timestamp';
const NOW = Date.UTC(2026, 0, 2, 3, 4, 5, 600);
const [ASKED, LATER] = ['2026-01-02T03:04:05.6Z', '2026-01-02T03:04:06.1Z'];

function applicationOf(annotations: Readonly<Record<string, string>> | undefined): Application {
  return { apiVersion: '', kind: 'Application', metadata: { name: 'web', annotations } };
}

function workOf(annotations: Readonly<Record<string, string>> | undefined, observed?: number): ManifestWork {
  const applied = {
    type: 'Applied',
    status: 'True',
    reason: '',
    message: '',
    observedGeneration: observed,
  } as const;
  return {
    apiVersion: '',
    kind: 'ManifestWork',
    metadata: { name: 'web', generation: 3 },
    spec: { workload: { manifests: [{ ...applicationOf(annotations) }] } },
    status: { conditions: observed === undefined ? [] : [applied] },
  };
}

describe('the time of a refresh', () => {
  it.each([
    { name: 'no refresh has none', asked: { note: 'x' }, carried: undefined, want: undefined },
    {
      name: 'Argo CD gave it',
      asked: { [REFRESH]: 'hard', [TIME]: LATER },
      carried: { [REFRESH]: 'hard', [TIME]: ASKED },
      want: LATER,
    },
    {
      name: 'it is the first pass’s',
      asked: { [REFRESH]: 'normal' },
      carried: undefined,
      want: '2026-01-02T03:04:05.600Z',
    },
    {
      name: 'it is that of the work',
      asked: { [REFRESH]: 'normal' },
      carried: { [REFRESH]: 'normal', [TIME]: ASKED },
      want: ASKED,
    },
    {
      name: 'another type is another request',
      asked: { [REFRESH]: 'hard' },
      carried: { [REFRESH]: 'normal', [TIME]: ASKED },
      want: '2026-01-02T03:04:05.600Z',
    },
    {
      name: 'what is no time is none',
      asked: { [REFRESH]: 'hard', [TIME]: 'soon' },
      carried: undefined,
      want: '2026-01-02T03:04:05.600Z',
    },
  ])('$name', ({ asked, carried, want }) => {
    const { metadata } = withRefreshTime(applicationOf(asked), [workOf(undefined), workOf(carried)], NOW);
    expect(metadata.annotations).toEqual({ ...asked, ...(want !== undefined && { [TIME]: want }) });
  });
});

describe('a refresh is done', () => {
  const REQUEST = { [REFRESH]: 'normal', [TIME]: ASKED };
  it.each([
    { name: 'when the cluster has compared since', reconciledAt: '2026-01-02T03:04:06Z', want: true },
    { name: 'when it has compared in the same second', reconciledAt: '2026-01-02T03:04:05Z', want: true },
    { name: 'not when it compared before', reconciledAt: '2026-01-02T03:04:04Z', want: false },
    { name: 'not when it reports no time', reconciledAt: undefined, want: false },
    { name: 'not when it reports nonsense', reconciledAt: 'now', want: false },
    { name: 'not while the agent is behind', observed: 2, reconciledAt: LATER, want: false },
    { name: 'not when the work carries none', carried: {}, reconciledAt: LATER, want: false },
    {
      name: 'not when it carries another type',
      carried: { ...REQUEST, [REFRESH]: 'hard' },
      reconciledAt: LATER,
      want: false,
    },
    {
      name: 'not when it carries an earlier one',
      asked: { ...REQUEST, [TIME]: LATER },
      reconciledAt: LATER,
      want: false,
    },
    {
      name: 'not when nobody asks',
      asked: { [TIME]: ASKED },
      carried: { [TIME]: ASKED },
      reconciledAt: LATER,
      want: false,
    },
  ])('$name', ({ asked = REQUEST, carried = REQUEST, observed = 3, reconciledAt, want }) => {
    expect(isRefreshed(applicationOf(asked), workOf(carried, observed), reconciledAt)).toBe(want);
  });

  it('not without a work', () => {
    expect(isRefreshed(applicationOf(REQUEST), undefined, LATER)).toBe(false);
  });
});
