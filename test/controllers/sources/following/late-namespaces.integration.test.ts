import { afterAll, beforeAll, describe } from 'vitest';
import { NAMESPACE } from '@berth/kube/model/kinds';
import { startEmbeddedHub } from '../../../fakes/embedded-hub.ts';
import { namespacesThatComeLater } from './late-namespace-scenarios.ts';

describe('objects of namespaces that come later, on the embedded hub', () => {
  let hub: Awaited<ReturnType<typeof startEmbeddedHub>>;
  beforeAll(async () => {
    hub = await startEmbeddedHub();
    await hub.api.create(NAMESPACE, {
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name: 'berth-system' },
    });
  });
  afterAll(() => hub?.close());

  namespacesThatComeLater(() => hub.api);
});
