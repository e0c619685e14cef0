import { describe, expect, it } from 'vitest';
import type { KubeObject } from '@berth/kube/model/object-meta';
import { nextRequestStep } from '../../../src/rules/registration/next-request-step.ts';

const request = (name: string, sent: string, status?: object, labels = {}): KubeObject => ({
  apiVersion: 'certificates.k8s.io/v1',
  kind: 'CertificateSigningRequest',
  metadata: { name, labels },
  spec: { request: sent },
  ...(status && { status }),
});
const others = (count: number, labels = {}): readonly KubeObject[] =>
  Array.from({ length: count }, (_, at) => request(`other-${at}`, `o${at}`, undefined, labels));
const conditions = (...types: readonly string[]) => ({
  conditions: types.map((type) => ({ type, reason: 'R', message: 'm' })),
});

describe('nextRequestStep', () => {
  it.each([
    { name: 'nothing there', list: [], want: { kind: 'create' } },
    { name: 'nine others', list: others(9), want: { kind: 'create' } },
    { name: 'ten others', list: others(10), want: { kind: 'crowded', count: 10 } },
    {
      name: 'ten of add-ons',
      list: others(10, { 'open-cluster-management.io/addon-name': 'a' }),
      want: { kind: 'create' },
    },
    {
      name: 'ours among many',
      list: [...others(12), request('own', 'mine')],
      want: { kind: 'wait', name: 'own' },
    },
    {
      name: 'approved, not signed',
      list: [request('own', 'mine', conditions('Approved'))],
      want: { kind: 'wait', name: 'own' },
    },
    {
      name: 'signed',
      list: [request('own', 'mine', { ...conditions('Approved'), certificate: 'Y2VydA==' })],
      want: { kind: 'issued', name: 'own', certificate: 'Y2VydA==' },
    },
    {
      name: 'denied',
      list: [request('own', 'mine', conditions('Denied'))],
      want: { kind: 'refused', name: 'own', why: 'Denied (R: m)' },
    },
    {
      name: 'failed after it was approved',
      list: [request('own', 'mine', conditions('Approved', 'Failed'))],
      want: { kind: 'refused', name: 'own', why: 'Failed (R: m)' },
    },
  ])('$name', ({ list, want }) => expect(nextRequestStep(list, 'mine')).toEqual(want));
});
