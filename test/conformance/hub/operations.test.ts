import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { LooseJson } from '../../../packages/embedded-hub/test/loose-json.ts';
import type { TestHub } from '../../../packages/embedded-hub/test/hub-harness.ts';
import { startTestHub } from '../../../packages/embedded-hub/test/hub-harness.ts';
import type { Recorded } from './recorded-answer.ts';
import { normalized, readLines } from './recorded-answer.ts';

const recorded = readLines('operations.jsonl') as Recorded[];

/** Where the hub may differ, and how both answers are made comparable. Everything else is equal to the letter. */
const DIFFERENCES: Readonly<
  Record<string, { readonly reason: string; readonly alike: (body: LooseJson) => LooseJson }>
> = {
  'list table': {
    reason: "the recording server ran OCM's placement controller, which wrote into status meanwhile",
    alike: (body) => ({ ...body, items: body.items.map(withoutStatus) }),
  },
  'delete uid precond': {
    reason: 'the sentence names the uid of the stored object',
    alike: (body) => ({ ...body, message: body.message.replace(/record \([^)]*\)/, 'record (UID)') }),
  },
  'bad json': {
    reason: "the rest of the sentence is the JSON parser's own",
    alike: (body) => ({ ...body, message: body.message.replace(/(json parse error:).*/s, '$1') }),
  },
};

function withoutStatus(item: LooseJson): LooseJson {
  const { status: _status, ...rest } = item;
  const managedFields = (item.metadata.managedFields ?? []).filter(
    (entry: LooseJson) => entry.subresource !== 'status',
  );
  return { ...rest, metadata: { ...item.metadata, managedFields } };
}

describe('operations recorded from an API server', () => {
  let hub: TestHub;
  beforeAll(async () => {
    // The recording server ran without OCM's webhooks.
    hub = await startTestHub({ admission: [] });
  });
  afterAll(() => hub.stop());

  it.each(recorded)('$index $name', async ({ name, method, path, contentType, body, want }) => {
    const options = contentType === undefined ? {} : { body, type: contentType };
    const answer = await hub.call(method, path, { ...options, headers: { 'user-agent': 'conformance/1' } });
    const alike = DIFFERENCES[name]?.alike ?? ((one: LooseJson) => one);
    const shown = (body: unknown): LooseJson => alike(normalized(body));
    expect({
      status: answer.status,
      warning: answer.headers['warning'],
      body: shown(answer.body),
    }).toEqual({ status: want.status, warning: want.warning, body: shown(want.body) });
  });
});
