import { describe, expect, it } from 'vitest';
import { answerLine, type McpServer } from '../../../../../src/app/cli/commands/mcp/mcp.ts';

const SERVER: McpServer = {
  version: '1.2.3',
  instructions: 'Ask.',
  tools: [
    {
      ...{ name: 'explain', description: 'why', required: ['placement'] },
      parameters: { placement: 'NAMESPACE/NAME', cluster: 'a cluster' },
      call: (given) => Promise.resolve({ text: JSON.stringify(given), isError: false }),
    },
    {
      ...{ name: 'broken', description: 'fails', required: [], parameters: {} },
      call: () => Promise.reject(new Error('the hub is gone')),
    },
  ],
};
const PLACEMENT = { placement: 'team/web' };

async function ask(method: string, params?: object): Promise<unknown> {
  const answer = await answerLine(SERVER, JSON.stringify({ jsonrpc: '2.0', id: 7, method, params }));
  return JSON.parse(answer ?? 'null');
}

describe('a server of tools', () => {
  it('agrees on a version of the protocol that it knows, or names its newest', async () => {
    const asked = await ask('initialize', { protocolVersion: '2025-03-26', capabilities: {} });
    expect(asked).toEqual({
      ...{ jsonrpc: '2.0', id: 7 },
      result: {
        protocolVersion: '2025-03-26',
        capabilities: { tools: {} },
        serverInfo: { name: 'berth', version: '1.2.3' },
        instructions: 'Ask.',
      },
    });
    const other = await ask('initialize', { protocolVersion: '1999-01-01' });
    expect(other).toMatchObject({ result: { protocolVersion: '2025-06-18' } });
  });

  it('lists its tools with what they take', async () => {
    const { result } = (await ask('tools/list')) as { result: { tools: readonly object[] } };
    expect(result.tools[0]).toEqual({
      ...{ name: 'explain', description: 'why', annotations: { readOnlyHint: true } },
      inputSchema: {
        type: 'object',
        properties: {
          placement: { type: 'string', description: 'NAMESPACE/NAME' },
          cluster: { type: 'string', description: 'a cluster' },
        },
        ...{ required: ['placement'], additionalProperties: false },
      },
    });
  });

  it('calls a tool', async () => {
    expect(await ask('tools/call', { name: 'explain', arguments: PLACEMENT })).toMatchObject({
      result: { content: [{ type: 'text', text: '{"placement":"team/web"}' }], isError: false },
    });
  });

  it.each([
    ['another tool', { name: 'release' }, 'no tool "release"'],
    ['a missing argument', { name: 'explain' }, 'expected placement'],
    ['another argument', { name: 'explain', arguments: { ...PLACEMENT, token: 'x' } }, 'no argument "token"'],
    ['a name of every object', { name: 'explain', arguments: { constructor: 'x' } }, 'no argument "constr'],
    ['a number', { name: 'explain', arguments: { placement: 5 } }, 'placement: expected text'],
    ['a list', { name: 'explain', arguments: ['x'] }, 'expected arguments as an object'],
  ])('refuses %s', async (_what, params, message) => {
    expect(await ask('tools/call', params)).toMatchObject({
      ...{ id: 7, error: { code: -32602, message: expect.stringContaining(message) as string } },
    });
  });

  it('answers each message, whatever it is', async () => {
    expect(await ask('tools/call', { name: 'broken' })).toMatchObject({
      error: { code: -32603, message: 'the hub is gone' },
    });
    expect(await ask('resources/list')).toMatchObject({ error: { code: -32601 } });
    expect(await ask('ping')).toMatchObject({ result: {} });
    for (const [line, code] of [
      ['{', -32700],
      ['[]', -32600],
      ['null', -32600],
      ['{"id":1,"method":"ping"}', -32600],
    ] as const)
      expect(JSON.parse((await answerLine(SERVER, line)) ?? '')).toMatchObject({ error: { code } });
    const notification = '{"jsonrpc":"2.0","method":"notifications/initialized"}';
    expect(await answerLine(SERVER, notification)).toBeUndefined();
  });
});
