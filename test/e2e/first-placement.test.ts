import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { documentedCommands } from '../interop/argocd/documented-commands.ts';
import { freePort } from '../interop/peers/free-port.ts';

const ROOT = join(import.meta.dirname, '../..');

describe('the commands of "Your first placement" in README.md', () => {
  let dir: string;
  beforeAll(() => {
    dir = mkdtempSync(join(tmpdir(), 'berth-first-placement-'));
  });
  afterAll(() => rmSync(dir, { recursive: true, force: true }));

  it('lead, word for word, to a decision, a plan, a held removal and its approval', async () => {
    const address = `127.0.0.1:${await freePort()}`;
    const untilStatusSays = `until berth status --server http://${address} --token-file tokens > status; grep`;
    const script = documentedCommands(join(ROOT, 'README.md'), 'Your first placement', {
      'npm ci && npm run build': '',
      'BERTH=$PWD && cd "$(mktemp -d)"': `BERTH='${ROOT}' && cd '${dir}'`,
      'berth hub --data hub': `berth hub --data hub --listen 127.0.0.1:${await freePort()}`,
      '127.0.0.1:8080': address,
      'berth reconcile': `berth reconcile --server http://${address}`,
      'berth get placements': `${untilStatusSays} 'shop/web *2' status; do sleep 0.2; done; berth get placements`,
      '--head new-site --hub': '--head new-site --hub > plan || test $? = 3; cat plan',
      'berth status --token-file tokens\n': `${untilStatusSays} WouldEmpty status; do sleep 0.2; done; cat status\n`,
      'release shop/web --token CODE': `release shop/web --token $(sed -n 's/^ .*--token \\(\\w*\\).*/\\1/p' plan | head -1)`,
      'berth history': `until berth history shop/web | grep 'user admin'; do sleep 0.2; done; berth history`,
    });
    const { code, said } = await follow(script);
    expect(said).toMatch(/^shop +web +2\/all +edge1,edge2 /m);
    expect(said).toMatch(/^ {2}~ shop\/web: 2 → 0 clusters/m);
    expect(said).toMatch(/^shop\/web +2 +WouldEmpty$/m);
    expect(said).toMatch(/^released shop\/web/m);
    expect(said).toMatch(/ 0 +−2 .*Kubernetes user admin/);
    expect(code).toBe(0);
  });
});

/** Runs the script as a person does, with jobs that `kill %1` ends, and ends them also when a command fails. */
async function follow(script: string): Promise<{ readonly code: unknown; readonly said: string }> {
  const names = ['AUTHOR', 'COMMITTER'].flatMap((who) => [
    [`GIT_${who}_NAME`, 'ada'],
    [`GIT_${who}_EMAIL`, 'ada@example.org'],
  ]);
  const whole = `set -m; trap 'kill $(jobs -p | sed s/^/-/) 2> /dev/null || true' EXIT\n${script}`;
  const child = spawn('bash', ['-c', `exec 2>&1; ${whole}`], {
    env: { ...process.env, ...Object.fromEntries(names) },
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const closed = once(child, 'close');
  const said = await text(child.stdout);
  const [code] = (await closed) as [unknown];
  return { code, said };
}
