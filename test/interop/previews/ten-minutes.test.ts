import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PATIENCE_MS } from '@berth/test-kit/patience';
import { documentedCommands } from '../argocd/documented-commands.ts';
import { freePort } from '../peers/free-port.ts';
import { type Gitea, hasGiteaModule, startGitea } from '../peers/gitea.ts';
import { hasPeers } from '../peers/peer-programs.ts';

const ROOT = join(import.meta.dirname, '../../..');
const POLL = { timeout: PATIENCE_MS };
const REPOSITORY = '/repos/ada/fleet';
/** The scopes that the page names, of an administrator of the site. */
const SCOPES = ['write:admin', 'write:repository', 'write:user'];

describe.skipIf(!hasPeers('gitea') || !hasGiteaModule())(
  'the commands of "Ten minutes to the first comment" in docs/previews.md, with a fresh Gitea',
  () => {
    let dir: string;
    let gitea: Gitea;
    let end: (() => Promise<void>) | undefined;
    beforeAll(async () => {
      dir = mkdtempSync(join(tmpdir(), 'berth-first-comment-'));
      gitea = await startGitea(join(dir, 'gitea'));
      gitea.user('ada');
      await gitea.call('POST', '/user/repos', { name: 'fleet', private: true }, 'ada');
    });
    afterAll(async () => {
      await end?.();
      await gitea?.stop();
      rmSync(dir, { recursive: true, force: true });
    });

    it('lead, word for word, to a comment and an answered command', async () => {
      const berth = `http://127.0.0.1:${await freePort()}`;
      const script = documentedCommands(join(ROOT, 'docs/previews.md'), 'Ten minutes to the first comment', {
        'http://127.0.0.1:3000': gitea.url,
        'REPOSITORY=team/fleet': 'REPOSITORY=ada/fleet',
        'http://127.0.0.1:8080': berth,
        '127.0.0.1:8080': new URL(berth).host,
        'CLONE=~/berth': `CLONE='${ROOT}'`,
        'berth hub --data hub > hub.log 2>&1 &': `berth hub --data hub --listen 127.0.0.1:${await freePort()} > hub.log 2>&1 &
          until grep -q admin.kubeconfig hub.log; do sleep 0.1; done`,
        'THE TOKEN': await scopedToken(gitea),
        '--webhook gitea=webhook-secret --public-url $BERTH': `--webhook gitea=webhook-secret --public-url $BERTH > serve.log 2>&1 &
          until grep -q 'open pull requests are listed' serve.log; do sleep 0.1; done`,
      });
      const reader = readerIn(join(dir, 'work'));
      end = reader.follow(script);
      await expect.poll(reader.said, POLL).toContain('DONE');
      for (const check of ['token', 'pull requests', 'rights', 'webhook', 'server', 'deliveries'])
        expect(reader.said()).toContain(`ok: ${check}: `);
      for (const file of ['admin-token', 'forge-token', 'webhook-secret'])
        expect(reader.said()).not.toContain(readFileSync(join(dir, 'work', file), 'utf8').trim());
      const again = reader.run('berth', [
        ...['preview', 'install', '--provider', 'forgejo', '--url', `${gitea.url}/ada/fleet.git`],
        ...['--public-url', berth, '--admin-token-file', 'admin-token', '-o', 'json'],
      ]);
      expect(again).toContain('is up to date');
      expect(await gitea.call('GET', `${REPOSITORY}/hooks`, undefined, 'ada')).toHaveLength(1);
      const pull = { head: 'two-clusters', base: 'main', title: 'Run redis on two clusters' };
      const { number } = (await gitea.call('POST', `${REPOSITORY}/pulls`, pull, 'ada')) as { number: number };
      const comments = async (): Promise<string> =>
        JSON.stringify(await gitea.call('GET', `${REPOSITORY}/issues/${number}/comments`, undefined, 'ada'));
      await expect.poll(comments, POLL).toContain('Berth: 1 placement would change: +1 cluster');
      const body = '/berth approve 000000000000';
      await gitea.call('POST', `${REPOSITORY}/issues/${number}/comments`, { body }, 'ada');
      await expect.poll(comments, POLL).toContain('You opened this pull request and may not approve it');
    });
  },
);

async function scopedToken(gitea: Gitea): Promise<string> {
  const made = await fetch(`${gitea.url}/api/v1/users/root/tokens`, {
    method: 'POST',
    headers: {
      authorization: `Basic ${Buffer.from('root:A-root-1234567').toString('base64')}`,
      'content-type': 'application/json',
    },
    body: JSON.stringify({ name: 'setup', scopes: SCOPES }),
  });
  const { sha1 } = (await made.json()) as { readonly sha1: string };
  return sha1;
}

/** Somebody who has `berth` on the path and is `ada` at the forge. */
function readerIn(cwd: string) {
  const bin = join(cwd, 'bin');
  mkdirSync(bin, { recursive: true });
  const program = (name: string, text: string): string => {
    writeFileSync(join(bin, name), `#!/bin/sh\n${text}\n`);
    chmodSync(join(bin, name), 0o755);
    return join(bin, name);
  };
  program('berth', `exec '${process.execPath}' '${join(ROOT, 'dist/src/app/cli/main.js')}' "$@"`);
  let text = '';
  return {
    /** Until the script has ended, and then until the returned function is called. */
    follow(script: string): () => Promise<void> {
      const whole = `set -e; trap 'kill $(jobs -p) 2> /dev/null; wait' EXIT\n${script}\necho DONE; read -r _ || true`;
      const child = spawn('bash', ['-c', whole], {
        cwd,
        env: {
          ...process.env,
          ...{ GIT_AUTHOR_NAME: 'ada', GIT_AUTHOR_EMAIL: 'ada@example.org' },
          ...{ GIT_COMMITTER_NAME: 'ada', GIT_COMMITTER_EMAIL: 'ada@example.org' },
          GIT_ASKPASS: program('askpass', 'case "$1" in User*) echo ada;; *) echo A-ada-1234567;; esac'),
          PATH: `${bin}:${process.env['PATH'] ?? ''}`,
        },
      });
      for (const stream of [child.stdout, child.stderr])
        stream.on('data', (chunk: Buffer) => (text += chunk.toString()));
      const ended = once(child, 'close');
      return async () => {
        child.stdin.end();
        await ended;
      };
    },
    said: () => text,
    /** What a program of the path prints. */
    run: (name: string, args: readonly string[]): string =>
      execFileSync(join(bin, name), args, { cwd, encoding: 'utf8' }),
  };
}
