import { expect, it } from 'vitest';
import { answerConversion } from '../../../../src/core/registration/webhooks/review-message.ts';

const GROUP = 'addon.open-cluster-management.io';
const review = (request: object) => ({
  ...{ apiVersion: 'apiextensions.k8s.io/v1', kind: 'ConversionReview' },
  request: { uid: 'u', desiredAPIVersion: `${GROUP}/v1beta1`, objects: [], ...request },
});
const ADDON = {
  ...{ apiVersion: `${GROUP}/v1alpha1`, kind: 'ManagedClusterAddOn' },
  metadata: { namespace: 'c1', name: 'a', uid: '7' },
  spec: { installNamespace: 'agents' },
};

it('answers with all objects, in their order and in the desired version', () => {
  const beta = {
    ...{ apiVersion: `${GROUP}/v1beta1`, kind: 'ManagedClusterAddOn' },
    metadata: { ...ADDON.metadata, annotations: { [`${GROUP}/v1alpha1-install-namespace`]: 'agents' } },
    spec: {},
  };
  expect(answerConversion(review({ objects: [ADDON, beta] }))).toEqual({
    ...{ apiVersion: 'apiextensions.k8s.io/v1', kind: 'ConversionReview' },
    response: { uid: 'u', convertedObjects: [beta, beta], result: { status: 'Success' } },
  });
  const back = review({ objects: [beta], desiredAPIVersion: `${GROUP}/v1alpha1` });
  expect(answerConversion(back)).toMatchObject({
    response: { convertedObjects: [{ apiVersion: ADDON.apiVersion, spec: ADDON.spec }] },
  });
});

it.each([
  ['no object', [], /of the kind ConversionReview/],
  ['another kind', { ...review({}), kind: 'AdmissionReview' }, /expected apiVersion .*v1 and kind Conv/],
  ['another version', { ...review({}), apiVersion: 'apiextensions.k8s.io/v1beta1' }, /expected apiVersion/],
  ['no request', { ...review({}), request: 1 }, /request\.uid: expected a text/],
  ['no uid', review({ uid: '' }), /request\.uid: expected a text/],
])('no review: %s', (_, sent, want) => {
  expect(answerConversion(sent)).toMatch(want);
});

const kubeClient = { type: 'kubeClient' };
it.each([
  ['a version that is not there', { desiredAPIVersion: `${GROUP}/v2` }, /desiredAPIVersion: got ".*v2", exp/],
  ['text for an object', { objects: ['x'] }, /objects\[0\]: got "x", expected an object/],
  [
    'another group',
    { objects: [ADDON, { ...ADDON, apiVersion: 'v1' }] },
    /objects\[1\]\.apiVersion: got "v1"/,
  ],
  [
    'another kind',
    { objects: [{ ...ADDON, kind: 'Pod' }] },
    /kind: got "Pod", expected ClusterManagementAddOn/,
  ],
  ['no kind', { objects: [{ ...ADDON, kind: 7 }] }, /kind: got "", expected ClusterManagementAddOn/],
  ['a spec that is text', { objects: [{ ...ADDON, spec: 'x' }] }, /spec: got "x", expected an object/],
  ['long text', { objects: ['x'.repeat(1_000)] }, /^[^]{1,200}$/],
  [
    'a registration that lacks what its type needs',
    {
      desiredAPIVersion: `${GROUP}/v1alpha1`,
      objects: [{ ...ADDON, apiVersion: `${GROUP}/v1beta1`, status: { registrations: [kubeClient] } }],
    },
    /nil KubeClient/,
  ],
])('a Failure that says why: %s', (_, request, want) => {
  expect(answerConversion(review(request))).toMatchObject({
    response: { uid: 'u', result: { status: 'Failure', message: expect.stringMatching(want) as string } },
  });
});
