import { afterAll, beforeAll, describe } from 'vitest';
import { startEmbeddedHub } from '../../fakes/embedded-hub.ts';
import { fieldsThatOthersAdd } from './added-field-scenarios.ts';

describe('fields that others add to the objects of a work, on the embedded hub', () => {
  let hub: Awaited<ReturnType<typeof startEmbeddedHub>>;
  beforeAll(async () => {
    hub = await startEmbeddedHub();
  });
  afterAll(() => hub?.close());

  fieldsThatOthersAdd(() => hub.api);
});
