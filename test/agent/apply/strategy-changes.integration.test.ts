import { afterAll, beforeAll, describe } from 'vitest';
import { startEmbeddedHub } from '../../fakes/embedded-hub.ts';
import { changedStrategies } from './strategy-change-scenarios.ts';

describe('a work whose update strategy changes, on the embedded hub', () => {
  let hub: Awaited<ReturnType<typeof startEmbeddedHub>>;
  beforeAll(async () => {
    hub = await startEmbeddedHub();
  });
  afterAll(() => hub?.close());

  changedStrategies(() => hub.api);
});
