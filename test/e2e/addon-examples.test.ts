import { expect, it } from 'vitest';
import { runExample } from './run-example.ts';

it('addon-helloworld-template: a template from Git is installed by a placement, registered and available', async () => {
  const text = await runExample('addon-helloworld-template');
  const [, conditions = '', secret = '', addOns = ''] = text.split(/\n(?=The )/);
  expect(conditions).toContain('Available=True ProbeAvailable');
  expect(conditions).toContain('RegistrationApplied=True SetPermissionApplied');
  expect(secret).toContain('cluster-name kubeconfig tls.crt tls.key');
  expect(addOns).toMatch(/helloworld +cluster1,cluster2/);
});
