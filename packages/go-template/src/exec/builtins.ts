import { sprint, sprintf, sprintln } from '../fmt/sprintf.ts';
import type { FuncMap } from '../value/go-func.ts';
import { func, variadic } from '../value/go-func.ts';
import { BOOL, INT, INTERFACE, REFLECT, STRING } from '../value/go-type.ts';
import { indexValue, lengthOf } from './collections.ts';
import { equal, less, lessOrEqual } from './compare.ts';
import { argsText, escapeHtml, escapeJavaScript, escapeQuery } from './escape.ts';
import { isTrue } from './truth.ts';

/**
 * The built-in functions of text/template. The evaluation handles `and`, `or` and `call` itself;
 * here they only give the number of their arguments. `slice` is missing, because the one of sprig
 * replaces it.
 */
export const BUILTINS: FuncMap = new Map([
  ['and', variadic([REFLECT], REFLECT, [REFLECT, (first) => first])],
  ['or', variadic([REFLECT], REFLECT, [REFLECT, (first) => first])],
  ['call', variadic([REFLECT], REFLECT, [REFLECT, (first) => first])],
  ['not', func([REFLECT], BOOL, (value) => !isTrue(value))],
  ['len', func([REFLECT], INT, lengthOf)],
  ['index', variadic([REFLECT], REFLECT, [REFLECT, indexValue])],
  ['eq', variadic([REFLECT], REFLECT, [BOOL, equal])],
  ['ne', func([REFLECT, REFLECT], BOOL, (left, right) => !equal(left, [right]))],
  ['lt', func([REFLECT, REFLECT], BOOL, less)],
  ['le', func([REFLECT, REFLECT], BOOL, lessOrEqual)],
  ['gt', func([REFLECT, REFLECT], BOOL, (left, right) => !lessOrEqual(left, right))],
  ['ge', func([REFLECT, REFLECT], BOOL, (left, right) => !less(left, right))],
  ['html', variadic([], INTERFACE, [STRING, (args) => escapeHtml(argsText(args))])],
  ['js', variadic([], INTERFACE, [STRING, (args) => escapeJavaScript(argsText(args))])],
  ['urlquery', variadic([], INTERFACE, [STRING, (args) => escapeQuery(argsText(args))])],
  ['print', variadic([], INTERFACE, [STRING, sprint])],
  ['println', variadic([], INTERFACE, [STRING, sprintln])],
  ['printf', variadic([STRING], INTERFACE, [STRING, sprintf])],
]);
