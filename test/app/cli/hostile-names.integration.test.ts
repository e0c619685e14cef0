import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { renderStatus } from '../../../src/app/cli/commands/controller/status.ts';
import { runCli } from '../../../src/app/cli/program.ts';
import { formatLocation } from '@berth/runtime/problem/source-location';
import { makeCliIo } from '../cli-harness.ts';

const RED = '\u001b[31m';
/** What a terminal would obey, and what is a line of its own. */
const OBEYED = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/;

describe('what strangers name cannot draw on the terminal', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'berth-names-'));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  it('the name of a file, in berth validate', async () => {
    writeFileSync(join(folder, `evil${RED}.yaml`), '[');
    writeFileSync(join(folder, 'good\nother.yaml:1:1: fine.yaml'), '[');
    const { io, stdout } = makeCliIo({ cwd: folder });
    expect(await runCli(['validate', '.'], io)).toBe(1);
    expect(stdout()).not.toMatch(OBEYED);
    expect(stdout()).toContain('evil\\u001b[31m.yaml:1:1');
    expect(stdout()).not.toMatch(/^other\.yaml/m);
  });

  it('whatever a source says, in berth status', () => {
    const hostile = `a${RED}\nplacement held: no\u202e`;
    const text = renderStatus({
      ready: true,
      problem: undefined,
      schedule: 'berth',
      leadership: {
        role: 'standby',
        lease: 'a/b',
        identity: 'me',
        holder: hostile,
        transitions: 0,
        problem: hostile,
      },
      warnings: [hostile],
      sources: [
        {
          inProcess: false,
          name: 'fleet',
          commit: 'abc',
          subject: hostile,
          objects: 1,
          error: hostile,
          problems: [hostile],
          pruneHeld: hostile,
        },
      ],
      placements: [{ placement: hostile, clusters: 1, held: { reason: hostile, message: hostile } }],
    });
    expect(text).not.toMatch(OBEYED);
    expect(text).not.toMatch(/^placement held/m);
  });

  it('ordinary names of every language stay as they are', () => {
    expect(formatLocation({ file: 'équipe/網.yaml', line: 1, column: 2 })).toBe('équipe/網.yaml:1:2');
  });
});
