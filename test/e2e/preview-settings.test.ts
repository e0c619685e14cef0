import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { baseFiles, placement, yaml } from '../app/serve/fleet-fixture.ts';
import { startEmbeddedHub } from '../fakes/embedded-hub.ts';
import { GitFixture } from '../../packages/git-reader/test/fakes/git-fixture.ts';
import { GiteaFake } from '../../packages/forge/test/fakes/forges/gitea-fake.ts';
import { ControllerProcess } from './controller-process.ts';

let dir: string;
let git: GitFixture;
let hub: Awaited<ReturnType<typeof startEmbeddedHub>>;
const forge = new GiteaFake();
let controller: ControllerProcess | undefined;

beforeEach(async () => {
  dir = mkdtempSync(join(tmpdir(), 'berth-settings-'));
  git = new GitFixture();
  hub = await startEmbeddedHub();
});
afterEach(async () => {
  await controller?.end('SIGTERM');
  await forge.close();
  await hub.close();
  git.remove();
  rmSync(dir, { recursive: true, force: true });
});

const web = (count: number) => ({ 'web.yaml': yaml(placement('web', { numberOfClusters: count })) });

it('the setting preview makes berth serve plan open pull requests in a process of its own', async () => {
  const apiUrl = await forge.start();
  git.commit({ ...baseFiles, ...web(1) });
  git.run('checkout', '-q', '-b', 'change');
  const head = git.commit(web(2));
  git.run('checkout', '-q', 'main');
  forge.pulls.set(7, { number: 7, head });
  // One that is broken holds up nothing.
  git.run('checkout', '-q', '-b', 'broken');
  forge.pulls.set(8, { number: 8, head: git.commit({ 'web.yaml': 'kind: [' }) });
  git.run('checkout', '-q', 'main');
  const [tokenFile, settings] = [join(dir, 'forge-token'), join(dir, 'sources.yaml')];
  writeFileSync(tokenFile, 'a-token\n');
  const preview = { provider: 'gitea', apiUrl, repository: 'team/fleet', credentials: { tokenFile } };
  const source = { name: 'fleet', url: git.path, ref: { branch: 'main' }, preview };
  writeFileSync(settings, yaml({ sources: [source] }));
  controller = new ControllerProcess(['--config', settings, '--kubeconfig', hub.kubeconfig, '--embedded']);
  const comment = (number: number) => forge.comments.find((one) => one.number === number)?.body ?? '';
  await expect.poll(() => comment(7)).toContain('+1 cluster');
  await expect.poll(() => comment(8)).toContain('in the manifests');
  await expect.poll(() => forge.statusOf(head, 'berth/preview/fleet')?.state).toBe('success');
  expect(forge.seen.every(({ authorization }) => authorization?.endsWith('a-token'))).toBe(true);
});
