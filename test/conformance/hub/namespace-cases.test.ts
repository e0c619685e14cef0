import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { TestHub } from '../../../packages/embedded-hub/test/hub-harness.ts';
import { startTestHub } from '../../../packages/embedded-hub/test/hub-harness.ts';
import { namespaceAnswer, readNamespaceCases } from './namespace-cases.ts';

describe('the namespace in the metadata of an object, as recorded from kube-apiserver', () => {
  let hub: TestHub;
  beforeAll(async () => {
    hub = await startTestHub({ admission: [] });
  });
  afterAll(() => hub.stop());

  it.each(readNamespaceCases().map((one, index) => ({ index, ...one })))(
    '$index $method $path $type',
    async ({ method, path, type, body, want }) => {
      expect(namespaceAnswer(await hub.call(method, path, { body, type }))).toEqual(want);
    },
  );
});
