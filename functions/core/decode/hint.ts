/** One line about text that is not JSON: what it probably is, and what to publish instead. */
export function notJsonHint(text: string, problem: string): string {
  // Regular expressions see the start alone: over megabytes a repetition can run out of stack.
  const start = text.slice(0, 200).trim();
  if (/^[{[]\s*'/.test(start)) {
    return 'the data looks like the printed form of a Python dict: publish json.dumps(...) of it';
  }
  if (/^\{\s*[\w.-]+\s*=/.test(start)) {
    return 'the data looks like the printed form of a map ({name=value}): publish it serialised by a JSON library';
  }
  if (/^\{\s*[A-Za-z_$][\w$]*\s*:/.test(start)) {
    return 'the names have no quotes, so this is not JSON: publish JSON.stringify(...) of the object';
  }
  if (start.startsWith('[object Object]')) {
    return 'the data is an object turned into text: publish JSON.stringify(...) of the object';
  }
  if (/^<\??\w/.test(start)) return 'the data looks like XML: publish a JSON object';
  if (/^[A-Za-z0-9+/]{16,}={0,2}$/.test(start) && text.trim().length % 4 === 0) {
    return 'the data looks like base64 inside the message: publish the JSON text itself';
  }
  return `the data is not JSON: ${problem}`;
}
