import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ServeOptions } from '../../../../src/app/settings/serve-options.ts';
import { SilentLogger } from '@berth/test-kit/silent-logger';
import { withoutGit } from '../../../../packages/git-reader/test/fakes/without-git.ts';
import { type GitServer, serveHttp } from '../../../../packages/git-reader/test/git-servers.ts';
import { baseFiles, placement, yaml } from '../../../app/serve/fleet-fixture.ts';
import { ServedFleet } from '../../../app/serve/served-fleet.ts';

describe('berth serve where no git program exists', () => {
  let fleet: ServedFleet;
  let server: GitServer | undefined;
  let log: SilentLogger;
  beforeEach(async () => {
    fleet = await ServedFleet.create();
    log = new SilentLogger();
    fleet.git.commit({ ...baseFiles, 'web.yaml': yaml(placement('web', { numberOfClusters: 2 })) }, 'First');
  });
  afterEach(async () => {
    await fleet.close();
    await server?.close();
    server = undefined;
  });

  const serve = (over: Partial<ServeOptions> = {}) => fleet.serve({ env: withoutGit(), log, ...over });
  const decided = async (clusters: number) =>
    fleet.until(async () => ((await fleet.decisions('web')).length === clusters ? clusters : undefined));
  const warnings = () => log.entries.filter(({ level, message }) => level === 'warn' && /git/.test(message));

  it.each([
    ['a server', async () => (server = await serveHttp(join(fleet.git.path, '.git'))).url],
    ['a local path', async () => fleet.git.path],
  ])('follows %s in process, commit after commit, and says so once', async (_what, urlOf) => {
    await serve({ sources: [{ url: await urlOf() }], http: fleet.http() });
    await decided(2);
    fleet.git.commit({ 'web.yaml': yaml(placement('web', { numberOfClusters: 3 })) });
    await decided(3);
    fleet.git.commit({ 'web.yaml': yaml(placement('web', { numberOfClusters: 4 })) });
    await decided(4);
    expect(warnings()).toMatchObject([
      { message: expect.stringContaining('there is no git program'), fields: { sources: ['fleet'] } },
    ]);
    expect((await fleet.status()).stdout).toContain(
      'fleet: there is no git program, so Berth reads in process',
    );
  });

  it('hands over to a git that was installed meanwhile, and back, at the next start', async () => {
    server = await serveHttp(join(fleet.git.path, '.git'));
    const sources = [{ url: server.url }];
    const mirror = join(fleet.dataDir, 'git', 'fleet');
    let clusters = 2;
    for (const env of [withoutGit(), process.env, withoutGit()]) {
      fleet.git.commit({ 'web.yaml': yaml(placement('web', { numberOfClusters: clusters })) });
      await serve({ sources, env });
      await decided(clusters);
      expect(existsSync(join(mirror, 'berth-url'))).toBe(env === process.env);
      await fleet.stop();
      clusters += 1;
    }
    expect(warnings()).toHaveLength(2);
  });

  it.each<[string, ServeOptions['sources'][number]]>([
    ['a signature policy', { url: '/repo', signatures: { allowedSignersFile: '/signers' } }],
    ['ssh', { url: 'git@git.invalid:team/fleet.git' }],
  ])('does not start with %s, and says what to do', async (_what, source) => {
    await expect(serve({ sources: [source] })).rejects.toMatchObject({
      name: 'InputError',
      code: 'git.needs-program',
      hint: expect.stringContaining('install git'),
    });
  });
});
