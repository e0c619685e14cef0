import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { checkPackBounds } from '../../src/in-process/pack-bounds.ts';
import { GitFixture } from '../git-fixture.ts';

describe('a pack that a remote sent', () => {
  const fixture = new GitFixture();
  let pack: Buffer;
  beforeAll(() => {
    fixture.commit({ 'a.yaml': 'one\n'.repeat(100), 'dir/b.yaml': 'b' });
    fixture.commit({ 'a.yaml': `${'one\n'.repeat(100)}two` });
    fixture.git('gc', '--quiet');
    const folder = path.join(fixture.dir, 'objects/pack');
    const name = readdirSync(folder).find((file) => file.endsWith('.pack')) ?? '';
    pack = readFileSync(path.join(folder, name));
  });
  afterAll(() => fixture.remove());

  it('is taken whole, and cut off nowhere', async () => {
    await expect(checkPackBounds(pack, 'Pack')).resolves.toBeUndefined();
    for (let length = 0; length < pack.length; length++)
      await expect(checkPackBounds(pack.subarray(0, length), 'Pack')).rejects.toMatchObject({
        name: 'TransientError',
        code: 'git.failed',
      });
  });
});
