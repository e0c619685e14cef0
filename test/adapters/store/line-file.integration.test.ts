import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { LineFile } from '../../../src/adapters/store/line-file.ts';

describe('LineFile', () => {
  let dir: string;
  let file: string;
  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), 'berth-lines-'));
    file = join(dir, 'lines.jsonl');
  });
  afterEach(() => rmSync(dir, { recursive: true, force: true }));
  const text = () => readFileSync(file, 'utf8');

  it.each([
    { name: 'no file', before: undefined, want: 'a\nb\n' },
    { name: 'an empty file', before: '', want: 'a\nb\n' },
    { name: 'whole lines', before: 'x\n', want: 'x\na\nb\n' },
    { name: 'a line that a crash cut off', before: 'x\n{"has', want: 'x\n{"has\na\nb\n' },
    { name: 'only a line that a crash cut off', before: '{', want: '{\na\nb\n' },
  ])('appends to $name', async ({ before, want }) => {
    if (before !== undefined) writeFileSync(file, before);
    const lines = new LineFile(file);
    await lines.append(['a']);
    await lines.append(['b']);
    await lines.close();
    expect(text()).toBe(want);
  });

  it('is opened again after it was closed, and after it was replaced', async () => {
    const lines = new LineFile(file);
    await lines.append(['a', 'b']);
    await lines.replace(['b']);
    await lines.append(['c']);
    await lines.close();
    await lines.close();
    expect(text()).toBe('b\nc\n');
    rmSync(file);
    await lines.append(['d']);
    await lines.close();
    expect(text()).toBe('d\n');
  });

  // A device that is always full: every write fails, opening it does not.
  it.runIf(existsSync('/dev/full'))('says when a write failed, and tries again with the next', async () => {
    const lines = new LineFile('/dev/full');
    await expect(lines.append(['a'])).rejects.toMatchObject({ code: 'ENOSPC' });
    await expect(lines.append(['b'])).rejects.toMatchObject({ code: 'ENOSPC' });
    await lines.close();
  });
});
