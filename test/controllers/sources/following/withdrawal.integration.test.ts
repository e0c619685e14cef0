import { afterAll, beforeAll, describe } from 'vitest';
import { startEmbeddedHub } from '../../../fakes/embedded-hub.ts';
import { objectsThatStay } from './withdrawal-scenarios.ts';

describe('objects that leave Git and stay, on the embedded hub', () => {
  let hub: Awaited<ReturnType<typeof startEmbeddedHub>>;
  beforeAll(async () => {
    hub = await startEmbeddedHub();
  });
  afterAll(() => hub?.close());

  objectsThatStay(() => hub.api);
});
