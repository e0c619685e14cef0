import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { TestHub } from '../../../packages/embedded-hub/test/hub-harness.ts';
import { startTestHub } from '../../../packages/embedded-hub/test/hub-harness.ts';
import type { Recorded } from './recorded-answer.ts';
import { normalized, readLines } from './recorded-answer.ts';

const [first, ...recorded] = readLines('ssa-random.jsonl') as [{ setup: unknown[] }, ...Recorded[]];

describe('random histories of server-side apply, recorded from an API server', () => {
  let hub: TestHub;
  beforeAll(async () => {
    hub = await startTestHub();
    for (const crd of first.setup) {
      const path = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
      expect((await hub.call('POST', path, { body: crd })).status).toBe(201);
    }
  });
  afterAll(() => hub.stop());

  it.each(recorded)('$index $name $path', async ({ method, path, contentType, body, want }) => {
    const options = contentType === undefined ? {} : { body, type: contentType };
    const answer = await hub.call(method, path, options);
    expect({ status: answer.status, body: normalized(answer.body) }).toEqual({
      status: want.status,
      body: normalized(want.body),
    });
  });
});
