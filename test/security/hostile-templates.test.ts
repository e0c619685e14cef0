import { describe, expect, it } from 'vitest';
import { renderGoTemplate } from '@berth/go-template/render-go-template';
import { TemplateError } from '@berth/go-template/values';

/** Templates are data of users: they end with an error that says why, and leave the process as it was. */
const DOUBLED = '{{$x := list 1}}{{range 60}}{{$x = list $x $x}}{{end}}';
const CYCLE = '{{$d := dict}}{{$_ := set $d "x" $d}}';
const TOO_MUCH = /too much work/;
const TOO_DEEP = /nested (too deep|more than 500 levels deep)/;
const TOO_LONG = /Berth does not create it/;

const ENDED: readonly (readonly [attack: string, template: string, says: RegExp])[] = [
  [
    'parentheses without end',
    `{{${'('.repeat(20_000)}1${')'.repeat(20_000)}}}`,
    /max expression depth exceeded/,
  ],
  ['branches in branches', '{{if 1}}'.repeat(20_000) + '{{end}}'.repeat(20_000), TOO_DEEP],
  ['a loop of billions', '{{range 9000000000}}{{end}}', TOO_MUCH],
  ['loops in loops', '{{range 100000}}{{range 100000}}x{{end}}{{end}}', TOO_MUCH],
  ['a text of gigabytes', '{{repeat 1000000000 "abc"}}', TOO_LONG],
  ['a text that doubles', '{{$x := "a"}}{{range 60}}{{$x = print $x $x}}{{end}}', TOO_LONG],
  ['a list of billions', '{{until 1000000000}}', TOO_LONG],
  ['a list that doubles, printed', `${DOUBLED}{{$x}}`, TOO_MUCH],
  ['a list that doubles, as JSON', `${DOUBLED}{{toJson $x}}`, TOO_MUCH],
  ['a list that doubles, copied', `${DOUBLED}{{deepCopy $x}}`, TOO_MUCH],
  ['a map that holds itself, printed', `${CYCLE}{{$d}}`, TOO_DEEP],
  ['a map that holds itself, as YAML', `${CYCLE}{{toYaml $d}}`, TOO_DEEP],
  ['a map that holds itself, merged', `${CYCLE}{{merge $d $d}}`, TOO_DEEP],
  [
    'a template that calls itself',
    '{{define "a"}}{{template "a"}}{{end}}{{template "a"}}',
    /maximum template depth/,
  ],
  [
    'a long pattern over a long text',
    `{{regexMatch "${'(x?)'.repeat(5000)}" (repeat 100000 "x")}}`,
    TOO_MUCH,
  ],
  ['a match at each character', '{{regexFindAll "" (repeat 1000000 "a") -1 | len}}', TOO_MUCH],
  [
    'a replacement that is long',
    '{{regexReplaceAll "a" (repeat 100000 "a") (repeat 1000 "b")}}',
    /too much work|does not make it/,
  ],
  ['an enormous width', '{{printf "%*d" 900000 1 | repeat 10000}}', TOO_LONG],
  ['YAML whose aliases multiply', `{{fromYaml .aliases}}`, TOO_MUCH],
];

const aliases = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h']
  .map(
    (name, index, all) =>
      `${name}: &${name} [${Array.from({ length: 9 }, () => (index === 0 ? 'x' : `*${all[index - 1]}`)).join(', ')}]`,
  )
  .join('\n');

describe('a template that asks for too much', () => {
  it.each(ENDED)('%s: is refused', (_, template, says) => {
    let message = '';
    try {
      renderGoTemplate(template, { aliases }, []);
    } catch (error) {
      expect(error).toBeInstanceOf(TemplateError);
      message = (error as Error).message;
    }
    expect(message).toMatch(says);
  });

  it('does not use up the work of the next one', () => {
    expect(() => renderGoTemplate('{{range 9000000000}}{{end}}', {}, [])).toThrow(TemplateError);
    expect(renderGoTemplate('{{range 1000}}{{end}}{{.a}}', { a: 'x' }, [])).toBe('x');
  });

  it('is not slowed by a pattern that makes other engines try forever', () => {
    expect(renderGoTemplate('{{regexMatch "^(a*)*b$" (repeat 10000 "a")}}', {}, [])).toBe('false');
  });
});

describe('names that JavaScript gives a meaning', () => {
  it.each(['__proto__', 'constructor', 'toString', 'hasOwnProperty'])(
    '%s is no parameter unless it is given',
    (name) => {
      expect(renderGoTemplate(`{{.${name}}}|{{hasKey . "${name}"}}|{{get . "${name}"}}`, {}, [])).toBe(
        '<no value>|false|',
      );
    },
  );

  it('are keys like others, and change no object', () => {
    const template =
      '{{$d := dict "__proto__" (dict "polluted" true)}}{{$m := merge (dict) $d}}{{toJson $m}}{{(fromJson .json).__proto__.a}}{{fromYaml "__proto__: {a: 1}"}}';
    expect(renderGoTemplate(template, { json: '{"__proto__":{"a":1}}' }, [])).toBe(
      '{"__proto__":{"polluted":true}}1map[__proto__:map[a:1]]',
    );
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
  });
});
