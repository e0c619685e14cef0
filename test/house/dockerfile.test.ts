import { readFileSync } from 'node:fs';
import { validate } from 'dockerfile-utils';
import { describe, expect, it } from 'vitest';

const dockerfile = readFileSync('Dockerfile', 'utf8');

describe('Dockerfile', () => {
  it('passes the linter', () => {
    expect(
      validate(dockerfile).map(({ message, range }) => `${range.start.line + 1}: ${JSON.stringify(message)}`),
    ).toEqual([]);
  });

  it('runs as a numeric non-root user, so that runAsNonRoot can be verified', () => {
    expect(dockerfile).toMatch(/^USER 65532:65532$/m);
  });

  it('gives the user the entry that ssh needs, and no program the rights of another user', () => {
    expect(dockerfile).toMatch(/groupadd --gid 65532 \S+ && useradd --uid 65532 --gid 65532 /);
    expect(dockerfile).toContain('find / -xdev -type f -perm /6000 -exec chmod a-s {} +');
  });

  it('starts the program without a shell', () => {
    expect(dockerfile).toMatch(/^ENTRYPOINT \["node", "\/app\/dist\/src\/app\/cli\/main\.js"\]$/m);
  });

  it('installs what is asked to speak to remotes and to check signatures', () => {
    for (const name of ['git', 'openssh-client', 'gpg', 'ca-certificates'])
      expect(dockerfile).toMatch(new RegExp(`apt-get install .*\\b${name}\\b`));
  });

  it('removes the perl that git brings, also from the list of packages that scanners read', () => {
    expect(dockerfile).toMatch(/dpkg --purge .*'\*perl\*'/);
  });

  it('copies everything that the build reads', () => {
    for (const path of [
      'src',
      'plugin',
      'packages',
      'tsconfig.base.json',
      'scripts/build.mjs',
      'scripts/own-packages.mjs',
      'scripts/write-build.mjs',
    ])
      expect(dockerfile).toMatch(new RegExp(`^COPY .*${path} `, 'm'));
  });
});
