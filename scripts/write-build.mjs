// The last step of scripts/build.mjs: adds to dist/build.json which commit was built, which `berth --version` prints, and makes the command
// executable. The commit comes from BERTH_COMMIT (an image that is built without a clone), from git, or from .git without the git program.
import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs';

const commit = process.env.BERTH_COMMIT || fromGit() || (await fromFiles()) || 'unknown';
const build = existsSync('dist/build.json') ? JSON.parse(readFileSync('dist/build.json', 'utf8')) : {};
writeFileSync('dist/build.json', `${JSON.stringify({ ...build, commit })}\n`);
chmodSync('dist/src/app/cli/main.js', 0o755);

/** With `-dirty` where files differ from the commit. */
function fromGit() {
  if (!existsSync('.git')) return undefined;
  const args = ['describe', '--always', '--dirty', '--abbrev=40', '--exclude=*'];
  return spawnSync('git', args, { encoding: 'utf8' }).stdout?.trim();
}

async function fromFiles() {
  if (!existsSync('.git/HEAD')) return undefined;
  const [{ resolveRef }, fs] = await Promise.all([import('isomorphic-git'), import('node:fs')]);
  return resolveRef({ fs, gitdir: '.git', ref: 'HEAD' }).catch(() => undefined);
}
