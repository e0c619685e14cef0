import { beforeEach, describe, expect, it } from 'vitest';
import { ExecutorReviews, GET_RESULT_TTL_MS } from '../../src/executor/executor-reviews.ts';
import { parseExecutor } from '../../src/rules/applied/executor-subject.ts';
import { reviewReadAccess } from '../../src/work/observe-work.ts';
import type { ManifestWorkSpec } from '@berth/ocm/kind/manifest-work';
import type { KubeObject } from '@berth/kube/model/object-meta';
import { FakeClock } from '@berth/test-kit/fake-clock';
import { FakeKubeApi } from '@berth/test-kit/fake-kube-api';

const RUNNER = { namespace: 'ops', name: 'runner' };
const object = (name: string) => ({
  kind: { group: '', version: 'v1', plural: 'secrets' },
  key: { namespace: 'web', name },
});

let clock: FakeClock;
let cluster: FakeKubeApi;
let reviews: ExecutorReviews;
let granted: boolean;
let asked: unknown[];

beforeEach(() => {
  clock = new FakeClock();
  granted = true;
  asked = [];
  cluster = new FakeKubeApi();
  cluster.create = (_kind, review) => {
    asked.push(review['spec']);
    return Promise.resolve({ ...review, status: { allowed: granted } } as KubeObject);
  };
  reviews = new ExecutorReviews({ cluster, clock, rights: undefined });
});

describe('reviews of executors', () => {
  it('ask for the service account and the very object', async () => {
    expect(await reviews.isAllowed(RUNNER, 'patch', object('s'))).toBe(true);
    expect(asked).toEqual([
      {
        user: 'system:serviceaccount:ops:runner',
        groups: ['system:serviceaccounts', 'system:authenticated', 'system:serviceaccounts:ops'],
        resourceAttributes: {
          group: '',
          version: 'v1',
          resource: 'secrets',
          namespace: 'web',
          name: 's',
          verb: 'patch',
        },
      },
    ]);
  });

  it.each([true, false])('use an answer about get (%s) again for a minute', async (first) => {
    granted = first;
    expect(await reviews.isGetAllowed(RUNNER, object('s'))).toBe(first);
    granted = !first;
    await clock.advance(GET_RESULT_TTL_MS - 1);
    expect(await reviews.isGetAllowed(RUNNER, object('s'))).toBe(first);
    expect(asked).toHaveLength(1);
    await clock.advance(1);
    expect(await reviews.isGetAllowed(RUNNER, object('s'))).toBe(!first);
  });

  it('are asked again before each write, and the newest answer about get counts', async () => {
    await reviews.isGetAllowed(RUNNER, object('s'));
    granted = false;
    expect(await reviews.isAllowed(RUNNER, 'get', object('s'))).toBe(false);
    expect(await reviews.isGetAllowed(RUNNER, object('s'))).toBe(false);
    expect(asked).toHaveLength(2);
  });

  it('do not take one object, verb or account for another', async () => {
    await reviews.isGetAllowed(RUNNER, object('a/b'));
    granted = false;
    const other = { kind: object('b').kind, key: { namespace: 'web/a', name: 'b' } };
    expect(await reviews.isGetAllowed(RUNNER, other)).toBe(false);
    expect(await reviews.isAllowed(RUNNER, 'delete', object('a/b'))).toBe(false);
    expect(await reviews.isGetAllowed({ namespace: 'ops', name: 'other' }, object('a/b'))).toBe(false);
  });
});

describe('access to the objects of a status', () => {
  const entries = [
    {
      resourceMeta: {
        ordinal: 0,
        group: '',
        version: 'v1',
        resource: 'secrets',
        name: 's',
        namespace: 'web',
      },
    },
    { resourceMeta: { ordinal: 1 } },
  ];
  const account = { subject: { type: 'ServiceAccount', serviceAccount: RUNNER } };
  const kinds = async (executor: ManifestWorkSpec['executor']) =>
    (await reviewReadAccess(reviews, executor, entries)).map(({ kind }) => kind);

  it('is free without an executor, and then nobody is asked', async () => {
    expect(await kinds(undefined)).toEqual(['allowed', 'allowed']);
    expect(asked).toEqual([]);
  });

  it('is that of the executor', async () => {
    expect(await kinds(account)).toEqual(['allowed', 'allowed']);
    granted = false;
    await clock.advance(GET_RESULT_TTL_MS);
    expect(await kinds(account)).toEqual(['denied', 'allowed']);
  });

  it('is not taken for granted when the API server does not answer', async () => {
    cluster.create = () => Promise.reject(new Error('no route'));
    expect(await kinds(account)).toEqual(['failed', 'allowed']);
  });

  it('is denied to an executor that names no account', async () => {
    expect(await kinds({} as never)).toEqual(['denied', 'denied']);
    expect(asked).toEqual([]);
  });
});

describe('the executor of a work', () => {
  const choice = (executor: unknown) => parseExecutor(executor as ManifestWorkSpec['executor']).kind;

  it.each([
    { name: 'left out', executor: undefined, want: 'none' },
    { name: 'null', executor: null, want: 'none' },
    { name: 'empty', executor: {}, want: 'unusable' },
    { name: 'without type', executor: { subject: {} }, want: 'unusable' },
    {
      name: 'of another type',
      executor: { subject: { type: 'User', serviceAccount: RUNNER } },
      want: 'unusable',
    },
    { name: 'without account', executor: { subject: { type: 'ServiceAccount' } }, want: 'unusable' },
    {
      name: 'an account',
      executor: { subject: { type: 'ServiceAccount', serviceAccount: RUNNER } },
      want: 'account',
    },
  ])('$name is $want', ({ executor, want }) => {
    expect(choice(executor)).toBe(want);
  });
});
