import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startEmbeddedHub } from '../../../fakes/embedded-hub.ts';
import { PATIENCE_MS } from '@berth/test-kit/patience';
import { asKubeObject, BOATS, ROWS } from './objects-and-refusals.ts';

describe('a hub that is asked refuses the same', () => {
  let hub: Awaited<ReturnType<typeof startEmbeddedHub>>;
  const apply = async (object: object): Promise<'accepted' | 'refused'> => {
    const { apiVersion, kind } = asKubeObject(object);
    // A definition is served a moment after it was created.
    await expect.poll(() => hub.api.resolve(apiVersion, kind), { timeout: PATIENCE_MS }).toBeDefined();
    const found = await hub.api.resolve(apiVersion, kind);
    if (found === undefined) throw new Error(`${apiVersion} ${kind} is not served`);
    const options = { fieldManager: 'test', dryRun: true };
    return hub.api.apply(found, asKubeObject(object), options).then(
      () => 'accepted',
      () => 'refused',
    );
  };
  beforeAll(async () => {
    hub = await startEmbeddedHub();
    const definitions = await hub.api.resolve(BOATS.apiVersion, BOATS.kind);
    if (definitions === undefined) throw new Error('the hub has no definitions');
    await hub.api.create(definitions, asKubeObject(BOATS));
  });
  afterAll(() => hub.close());

  it.each(ROWS)('of $name', async ({ object, refused }) => {
    expect(await apply(object)).toBe(refused.length === 0 ? 'accepted' : 'refused');
  });
});
