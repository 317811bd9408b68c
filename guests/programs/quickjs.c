// Runs the JavaScript program that it reads. It can call `print`, and its array `args` has the
// arguments.
#include <stdio.h>

#include "quickjs.h"

static JSValue print(JSContext *context, JSValueConst this, int count, JSValueConst *values)
{
    (void)this;
    for (int i = 0; i < count; i++) {
        const char *text = JS_ToCString(context, values[i]);
        if (!text)
            return JS_EXCEPTION;
        printf("%s%s", i ? " " : "", text);
        JS_FreeCString(context, text);
    }
    putchar('\n');
    return JS_UNDEFINED;
}

int main(int argc, char **argv)
{
    static char source[1 << 18];
    size_t bytes = fread(source, 1, sizeof source - 1, stdin);
    JSRuntime *runtime = JS_NewRuntime();
    JSContext *context = runtime ? JS_NewContext(runtime) : NULL;
    if (!context)
        return fprintf(stderr, "no memory for a context\n"), 2;
    JSValue global = JS_GetGlobalObject(context), args = JS_NewArray(context);
    for (int i = 1; i < argc; i++)
        JS_SetPropertyUint32(context, args, i - 1, JS_NewString(context, argv[i]));
    JS_SetPropertyStr(context, global, "args", args);
    JS_SetPropertyStr(context, global, "print", JS_NewCFunction(context, print, "print", 1));
    JS_FreeValue(context, global);
    JSValue result = JS_Eval(context, source, bytes, "input", JS_EVAL_TYPE_GLOBAL);
    int failed = JS_IsException(result);
    if (failed) {
        JSValue exception = JS_GetException(context);
        const char *text = JS_ToCString(context, exception);
        fprintf(stderr, "%s\n", text ? text : "an exception without a text");
        JS_FreeCString(context, text);
        JS_FreeValue(context, exception);
    }
    JS_FreeValue(context, result);
    JS_FreeContext(context);
    JS_FreeRuntime(runtime);
    return failed;
}
