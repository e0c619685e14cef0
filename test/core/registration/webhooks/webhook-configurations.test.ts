import { describe, expect, it } from 'vitest';
import { type JsonObject, textAt } from '@berth/runtime/json/json-value';
import {
  hasAll,
  conversionBy,
  converterOf,
  hostOf,
  type WebhookAddress,
  webhookConfigurations,
} from '../../../../src/core/registration/webhooks/webhook-configurations.ts';

const SERVICE: WebhookAddress = { kind: 'service', namespace: 'ns', name: 'berth', port: 9443 };

it('is reached by a Service or by a URL, whose host the certificate is for', () => {
  const clients = (address: WebhookAddress) =>
    webhookConfigurations(address, 'base64 of PEM').flatMap(({ webhooks }) =>
      webhooks.map((webhook) => webhook['clientConfig']),
    );
  expect(clients(SERVICE)[0]).toEqual({
    service: { namespace: 'ns', name: 'berth', port: 9443, path: '/admission/mutate' },
    caBundle: 'base64 of PEM',
  });
  expect(hostOf(SERVICE)).toBe('berth.ns.svc');
  const url: WebhookAddress = { kind: 'url', url: 'https://[::1]:9443/' };
  expect(clients(url)[1]).toEqual({
    url: 'https://[::1]:9443/admission/validate',
    caBundle: 'base64 of PEM',
  });
  expect(hostOf(url)).toBe('::1');
});

it('refuses what it was not asked about only where a write could give rights', () => {
  const policies = webhookConfigurations(SERVICE).flatMap(({ webhooks }) =>
    webhooks.map((webhook) => `${textAt(webhook, 'name')}: ${textAt(webhook, 'failurePolicy')}`),
  );
  expect(policies).toEqual([
    'complete.managedclusters.admission.berth.dev: Ignore',
    'rights.managedclusters.admission.berth.dev: Fail',
    'addresses.managedclusters.admission.berth.dev: Ignore',
    'managedclustersetbindings.admission.berth.dev: Fail',
  ]);
});

describe('who converts', () => {
  const own = conversionBy(SERVICE, 'CA');
  const owned = (manager: string): JsonObject => ({
    manager,
    fieldsV1: { 'f:spec': { 'f:conversion': { 'f:webhook': { 'f:clientConfig': { 'f:caBundle': {} } } } } },
  });
  const labels = { manager: 'other', fieldsV1: { 'f:metadata': { 'f:labels': {} } } };
  const creator = { manager: 'other', fieldsV1: { 'f:spec': { 'f:group': {} } } };
  it.each([
    { of: 'no conversion', conversion: undefined, managers: [creator], want: 'nobody' },
    { of: 'the default', conversion: { strategy: 'None' }, managers: [creator], want: 'nobody' },
    { of: 'no authority', conversion: conversionBy(SERVICE), managers: [creator], want: 'nobody' },
    { of: 'our authority', conversion: own, managers: [creator, owned('berth-admission')], want: 'berth' },
    { of: 'an authority', conversion: own, managers: [owned('other')], want: 'another program' },
    {
      of: 'an authority that came after ours',
      conversion: own,
      managers: [owned('other'), { manager: 'berth-admission', fieldsV1: { 'f:spec': {} } }],
      want: 'another program',
    },
    {
      of: 'a spec that nobody wrote',
      conversion: { strategy: 'None' },
      managers: [labels],
      want: 'the API server',
    },
  ])('$of: $want', ({ conversion, managers, want }) => {
    const spec = { ...(conversion !== undefined && { conversion }) };
    expect(converterOf({ metadata: { managedFields: managers }, spec })).toBe(want);
  });
});

describe('hasAll', () => {
  it.each([
    { live: { a: 1, b: 2 }, wanted: { a: 1 }, want: true },
    { live: { a: 2 }, wanted: { a: 1 }, want: false },
    { live: {}, wanted: { a: 1 }, want: false },
    { live: undefined, wanted: {}, want: false },
    { live: [{ a: 1, b: 2 }], wanted: [{ a: 1 }], want: true },
    { live: [1, 2], wanted: [1], want: false },
    { live: { a: [] }, wanted: { a: [1] }, want: false },
    { live: {}, wanted: { a: null }, want: true },
    { live: { a: 1 }, wanted: { a: null }, want: false },
  ])('$wanted in $live: $want', ({ live, wanted, want }) => {
    expect(hasAll(live, wanted)).toBe(want);
  });
});
