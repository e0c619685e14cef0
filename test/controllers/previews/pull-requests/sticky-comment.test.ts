import { beforeEach, describe, expect, it } from 'vitest';
import { writeStickyComment } from '../../../../src/controllers/previews/pull-requests/sticky-comment.ts';
import type { PullRequestForge } from '@berth/forge/contract/pull-request-forge';
import { sha256 } from '@berth/runtime/sha256';

const MARKER = '<!-- berth:preview:fleet -->';
const TEXT = `${MARKER}\nthe new plan`;
const signal = new AbortController().signal;

describe('the one comment of a preview', () => {
  /** What the forge has, oldest first. */
  let comments: { id: string; text: string }[];
  let asked: string[];
  const find = (id: string) => comments.find((comment) => comment.id === id);
  const forge = {
    ownComments: (_number: number, marker: string) => {
      asked.push('list');
      return Promise.resolve(comments.filter(({ text }) => text.includes(marker)));
    },
    addComment: (_number: number, text: string) => {
      asked.push('add');
      comments.push({ id: 'new', text });
      return Promise.resolve('new');
    },
    editComment: (_number: number, id: string, text: string) => {
      asked.push(`edit ${id}`);
      const comment = find(id);
      if (comment !== undefined) comment.text = text;
      return Promise.resolve(comment !== undefined);
    },
    retireComment: (_number: number, id: string) => {
      asked.push(`retire ${id}`);
      comments = comments.filter((comment) => comment.id !== id);
      return Promise.resolve();
    },
  } as unknown as PullRequestForge;
  const write = (known?: { id: string; digest: string }) =>
    writeStickyComment(forge, { number: 7, marker: MARKER, known }, TEXT, signal);
  const ours = (id: string, text = `${MARKER}\nan old plan`) => ({ id, text });
  beforeEach(() => {
    [comments, asked] = [[], []];
  });

  it.each([
    { name: 'is added where there is none', has: [], known: undefined, want: ['list', 'add'], id: 'new' },
    {
      name: 'is edited where it is known',
      has: [ours('1')],
      known: { id: '1', digest: 'old' },
      want: ['edit 1'],
      id: '1',
    },
    {
      name: 'is left alone where it has the text',
      has: [ours('1', TEXT)],
      known: { id: '1', digest: sha256(TEXT) },
      want: [],
      id: '1',
    },
    {
      name: 'is found where it is not known',
      has: [ours('1')],
      known: undefined,
      want: ['list', 'edit 1'],
      id: '1',
    },
    {
      name: 'is found and left alone where it has the text',
      has: [ours('1', TEXT)],
      known: undefined,
      want: ['list'],
      id: '1',
    },
    {
      name: 'is found where somebody deleted the known one',
      has: [ours('2')],
      known: { id: '1', digest: 'old' },
      want: ['edit 1', 'list', 'edit 2'],
      id: '2',
    },
    {
      name: 'stays one: the duplicates that two processes have written are retired',
      has: [ours('1'), ours('2'), ours('3', TEXT)],
      known: undefined,
      want: ['list', 'retire 2', 'retire 3', 'edit 1'],
      id: '1',
    },
    {
      name: 'is no comment of another source',
      has: [{ id: '1', text: '<!-- berth:preview:other -->' }],
      known: undefined,
      want: ['list', 'add'],
      id: 'new',
    },
  ])('$name', async ({ has, known, want, id }) => {
    comments = [...has];
    expect(await write(known)).toEqual({ id, digest: sha256(TEXT) });
    expect(asked).toEqual(want);
    expect(comments.filter(({ text }) => text.includes(MARKER))).toEqual([{ id, text: TEXT }]);
  });

  it('is added where the one that was found is deleted meanwhile', async () => {
    comments = [ours('1')];
    const racing = { ...forge, editComment: () => Promise.resolve(false) };
    const target = { number: 7, marker: MARKER, known: undefined };
    expect(await writeStickyComment(racing, target, TEXT, signal)).toMatchObject({ id: 'new' });
  });
});
