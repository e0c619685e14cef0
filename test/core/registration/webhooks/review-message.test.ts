import { expect, it } from 'vitest';
import type { JsonObject } from '@berth/runtime/json/json-value';
import {
  judgeMutation,
  readReview,
  type ReviewRequest,
  reviewResponse,
} from '../../../../src/core/registration/webhooks/review-message.ts';

const NOW = '2026-06-01T00:00:00Z';
const LABEL = '/metadata/labels/cluster.open-cluster-management.io~1clusterset';

const question = (object: JsonObject): ReviewRequest => ({
  uid: 'u',
  resource: 'cluster.open-cluster-management.io/managedclusters',
  user: { user: 'ann', uid: '', groups: [], extra: {} },
  write: { operation: 'CREATE', object, old: undefined, userName: 'ann' },
});
const taint = { key: 'k', effect: 'NoSelect' };

it.each<{ name: string; object: JsonObject; want: unknown }>([
  {
    name: 'no labels',
    object: { metadata: { name: 'c' }, spec: {} },
    want: [
      {
        op: 'add',
        path: '/metadata/labels',
        value: { 'cluster.open-cluster-management.io/clusterset': 'default' },
      },
    ],
  },
  {
    name: 'other labels, and a taint',
    object: { metadata: { name: 'c', labels: { zone: 'a' } }, spec: { taints: [taint] } },
    want: [
      { op: 'add', path: LABEL, value: 'default' },
      { op: 'replace', path: '/spec/taints', value: [{ ...taint, timeAdded: NOW }] },
    ],
  },
  {
    name: 'nothing to add',
    object: { metadata: { labels: { 'cluster.open-cluster-management.io/clusterset': 's' } }, spec: {} },
    want: undefined,
  },
])('the patch of a mutation: $name', ({ object, want }) => {
  const asked = question(object);
  const { response } = reviewResponse(asked, judgeMutation(asked, NOW), (text) => text) as {
    response: { uid: string; allowed: boolean; patch?: string };
  };
  expect(response).toMatchObject({ uid: 'u', allowed: true });
  expect(response.patch === undefined ? undefined : JSON.parse(response.patch)).toEqual(want);
});

it.each<{ refusal: NonNullable<Parameters<typeof reviewResponse>[1]>; want: object }>([
  { refusal: { kind: 'unknown', message: 'm' }, want: { code: 500, reason: 'InternalError', message: 'm' } },
  {
    refusal: { kind: 'refused', refusal: { kind: 'forbidden', message: 'm' } },
    want: { code: 403, reason: 'Forbidden', message: 'm' },
  },
  {
    refusal: { kind: 'refused', refusal: { kind: 'invalid', field: 'f', value: 'v', problems: ['p'] } },
    want: { code: 422, reason: 'Invalid', message: 'f: Invalid value: "v": p' },
  },
])('answers with $want.code', ({ refusal, want }) => {
  const answer = reviewResponse(question({}), refusal, String);
  expect(answer['response']).toEqual({ uid: 'u', allowed: false, status: want });
});

it('hands on who asks as the API server knows them', () => {
  const userInfo = { username: 'ann', uid: '7', groups: ['g'], extra: { k: ['v'] } };
  const resource = {
    group: 'cluster.open-cluster-management.io',
    version: 'v1',
    resource: 'managedclusters',
  };
  const request = { uid: 'u', operation: 'CREATE', resource, userInfo, object: {} };
  const read = readReview({ apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', request });
  expect(read).toMatchObject({ user: { user: 'ann', uid: '7', groups: ['g'], extra: { k: ['v'] } } });
});
