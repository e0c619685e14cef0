import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { TestHub } from '../../../packages/embedded-hub/test/hub-harness.ts';
import { startTestHub } from '../../../packages/embedded-hub/test/hub-harness.ts';
import { REFUSED_APPLIES, refusalStatus } from './refused-applies.ts';

describe('applies that do not fit the schema, recorded from an API server', () => {
  let hub: TestHub;
  beforeAll(async () => {
    hub = await startTestHub();
  });
  afterAll(() => hub.stop());

  it.each(REFUSED_APPLIES)('$name', async (refused) => {
    const { path, body } = refused;
    const answer = await hub.call('PATCH', `${path}?fieldManager=t`, {
      body,
      type: 'application/apply-patch+yaml',
    });
    expect([answer.status, answer.body]).toEqual([500, refusalStatus(refused)]);
  });
});
