import { afterAll, beforeAll, describe } from 'vitest';
import { startEmbeddedHub } from '../../../fakes/embedded-hub.ts';
import { conflictsOverFields } from './field-conflict-scenarios.ts';

describe('conflicts over fields, on the embedded hub', () => {
  let hub: Awaited<ReturnType<typeof startEmbeddedHub>>;
  beforeAll(async () => {
    hub = await startEmbeddedHub();
  });
  afterAll(() => hub?.close());

  conflictsOverFields(() => hub.api);
});
