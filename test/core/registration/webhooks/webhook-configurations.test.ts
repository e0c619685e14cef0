import { describe, expect, it } from 'vitest';
import { textAt } from '@berth/runtime/json/json-value';
import {
  hasAll,
  hostOf,
  type WebhookAddress,
  webhookConfigurations,
} from '../../../../src/core/registration/webhooks/webhook-configurations.ts';

const SERVICE: WebhookAddress = { kind: 'service', namespace: 'ns', name: 'berth', port: 9443 };

it('is reached by a Service or by a URL, whose host the certificate is for', () => {
  const clients = (address: WebhookAddress) =>
    webhookConfigurations(address, 'PEM', (text) => `base64 of ${text}`).flatMap(({ webhooks }) =>
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
  const policies = webhookConfigurations(SERVICE, '', String).flatMap(({ webhooks }) =>
    webhooks.map((webhook) => `${textAt(webhook, 'name')}: ${textAt(webhook, 'failurePolicy')}`),
  );
  expect(policies).toEqual([
    'complete.managedclusters.admission.berth.dev: Ignore',
    'rights.managedclusters.admission.berth.dev: Fail',
    'addresses.managedclusters.admission.berth.dev: Ignore',
    'managedclustersetbindings.admission.berth.dev: Fail',
  ]);
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
  ])('$wanted in $live: $want', ({ live, wanted, want }) => {
    expect(hasAll(live, wanted)).toBe(want);
  });
});
