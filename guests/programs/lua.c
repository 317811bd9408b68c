// Runs a Lua program from a file, or from its input if the name is `-`, with the rest of the arguments in the table `arg`, as the `lua` command does.
#include <stdio.h>
#include <string.h>

#include "lauxlib.h"
#include "lua.h"
#include "lualib.h"

int main(int argc, char **argv)
{
    if (argc < 2)
        return fprintf(stderr, "usage: lua FILE [ARGUMENT...]\n"), 2;
    lua_State *lua = luaL_newstate();
    if (!lua)
        return fprintf(stderr, "no memory for a state\n"), 2;
    luaL_openlibs(lua);
    lua_newtable(lua);
    for (int i = 1; i < argc; i++) {
        lua_pushstring(lua, argv[i]);
        lua_rawseti(lua, -2, i - 1);
    }
    lua_setglobal(lua, "arg");
    int status = luaL_dofile(lua, strcmp(argv[1], "-") ? argv[1] : NULL);
    if (status != LUA_OK)
        fprintf(stderr, "%s\n", lua_tostring(lua, -1));
    lua_close(lua);
    return status != LUA_OK;
}
